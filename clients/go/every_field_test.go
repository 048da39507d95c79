package edgeweave

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
)

type sample struct {
	Method, Path string
	Query        map[string]string
	Body, Answer any
}

func pointer[T any](value T) *T { return &value }

// fieldCall is a call, its request with the data of its answer, and whether it returns the data.
type fieldCall struct {
	name    string
	call    func(lab *Lab) (any, error)
	sample  string
	returns bool
}

func TestEveryFieldIsSentAndRead(t *testing.T) {
	for _, each := range calls {
		t.Run(each.name, func(t *testing.T) {
			var wanted, received sample
			if err := json.Unmarshal([]byte(each.sample), &wanted); err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
				received = sample{request.Method, request.URL.EscapedPath(), map[string]string{}, nil, wanted.Answer}
				for name := range request.URL.Query() {
					received.Query[name] = request.URL.Query().Get(name)
				}
				if text, _ := io.ReadAll(request.Body); len(text) > 0 {
					_ = json.Unmarshal(text, &received.Body)
				}
				_ = json.NewEncoder(writer).Encode(map[string]any{"data": wanted.Answer})
			}))
			defer server.Close()
			answer, err := each.call(&Lab{url: server.URL, token: "token", client: server.Client()})
			if err != nil || !reflect.DeepEqual(received, wanted) {
				t.Fatalf("%v\nsent\n%v\nand not\n%v", err, received, wanted)
			}
			if read := encoded(t, answer); each.returns && !bytes.Equal(read, encoded(t, wanted.Answer)) {
				t.Fatalf("read %s", read)
			}
		})
	}
}

// encoded has the fields in the order of their names.
func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	var plain any
	if err == nil {
		err = json.Unmarshal(text, &plain)
	}
	if err == nil {
		text, err = json.Marshal(plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}
