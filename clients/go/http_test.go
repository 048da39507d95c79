package edgeweave

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that answers rubbish, or without an end: each is an error, with bounded memory.
func TestRubbishIsAnError(t *testing.T) {
	for _, text := range []string{"", "\x00\xff", "[]", "5", "<html>", strings.Repeat("[", 100_000), `{"error": 5}`} {
		lab := answering(t, func(answer http.ResponseWriter) { _, _ = answer.Write([]byte(text)) })
		_, err := lab.call(http.MethodGet, "/x", nil, nil)
		var rejection *LabError
		if !errors.As(err, &rejection) || len(err.Error()) > 1_000 {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestAnEndlessAnswerIsAnError(t *testing.T) {
	part := make([]byte, 1<<20)
	lab := answering(t, func(answer http.ResponseWriter) {
		for err := error(nil); err == nil; {
			_, err = answer.Write(part)
		}
	})
	if _, err := lab.call(http.MethodGet, "/x", nil, nil); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

func answering(t *testing.T, answer func(http.ResponseWriter)) *Lab {
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) { answer(writer) }))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return &Lab{url: server.URL, token: "t", client: server.Client()}
}
