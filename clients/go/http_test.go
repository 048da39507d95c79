package edgeweave

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"
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

func TestAnAnswerThatDripsIsAnErrorAfterItsTime(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\n"
	for _, each := range [][2]string{
		{"HTTP/1.1 200 O", "K"},
		{head + "x: ", "x"},
		{head, "x: y\r\n"},
		{"", "HTTP/1.1 100 Continue\r\n\r\n"},
		{head + "content-length: 1000000\r\n\r\n", " "},
		{head + "transfer-encoding: chunked\r\n\r\n", "1\r\n \r\n"},
	} {
		lab := sending(t, each[0], each[1])
		lab.client.Timeout = time.Second
		_, err := lab.call(http.MethodGet, "/x", nil, nil)
		var rejection *LabError
		if !errors.As(err, &rejection) {
			t.Errorf("%q: %v", each, err)
		}
	}
}

func TestErrorsHaveNoCharactersThatATerminalObeys(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\nok: all well\u202e\u2066\r\u009b31m\xff"
	quoted, _ := json.Marshal(evil)
	cause := `{"error":{"code":` + string(quoted) + `,"cause":{"field":` + string(quoted) + `,"reason":` + string(quoted) + `}}}`
	for _, answer := range []string{
		evil,
		"HTTP/1.1 " + evil + "\r\n\r\n",
		"HTTP/1.1 500 \x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\ncontent-length: \x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\ntransfer-encoding: \x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\x1b[2J\r\n",
		"HTTP/1.1 302 Found\r\nlocation: ftp://x/\x1b[2J\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n" + evil,
		"HTTP/1.1 400 Bad\r\n\r\n" + cause,
	} {
		_, err := sending(t, answer, "").call(http.MethodGet, "/x", nil, nil)
		var rejection *LabError
		if !errors.As(err, &rejection) {
			t.Errorf("%q: %v", answer, err)
			continue
		}
		for _, each := range rejection.Error() + rejection.Code {
			if unicode.In(each, unicode.C, unicode.Zl, unicode.Zp) {
				t.Errorf("%q: %q", answer, err)
				break
			}
		}
	}
}

// sending writes the start of an answer, and then its part again and again, or closes the connection.
func sending(t *testing.T, start, part string) *Lab {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Read(make([]byte, 65_536))
			_, err = connection.Write([]byte(start))
			for err == nil && part != "" {
				time.Sleep(20 * time.Millisecond)
				_, err = connection.Write([]byte(part))
			}
			_ = connection.Close()
		}
	}()
	return &Lab{url: "http://" + listener.Addr().String(), token: "t", client: &http.Client{}}
}

func answering(t *testing.T, answer func(http.ResponseWriter)) *Lab {
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) { answer(writer) }))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return &Lab{url: server.URL, token: "t", client: server.Client()}
}
