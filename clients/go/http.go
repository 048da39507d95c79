package edgeweave

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// Bytes of an answer, of one that is not JSON in an error, and of a reason.
const (
	maxAnswerBytes = 64 << 20
	maxShownBytes  = 200
	maxReasonBytes = 2000
)

// LabError is the reason for which the simulator rejects a request, or does not answer it. Its texts have one line, and no
// character that a terminal obeys: they contain what a server says.
type LabError struct {
	// Status of HTTP; 0 without an answer.
	Status int
	// Code is one of the controller's error codes.
	Code    string
	Message string
	cause   error
}

func (err *LabError) Error() string {
	return err.Message
}

// Unwrap returns the error of the connection, if there was no answer.
func (err *LabError) Unwrap() error {
	return err.cause
}

func newLabError(status int, code, message string, cause error) *LabError {
	return &LabError{Status: status, Code: shown(code), Message: shown(message), cause: cause}
}

// shown replaces control characters, marks that change the direction of writing, ends of lines and invalid bytes.
func shown(text string) string {
	var out strings.Builder
	for _, each := range text[:min(len(text), maxReasonBytes)] {
		if unicode.In(each, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || each == '\ufeff' {
			fmt.Fprintf(&out, "\\u%04x", each)
		} else {
			out.WriteRune(each)
		}
	}
	return out.String()
}

// VerificationError says that the journal is not as the test expects. Its text names the nearest entries, each in a line of
// its own.
type VerificationError struct {
	Message string
}

func (err *VerificationError) Error() string {
	return err.Message
}

// holding returns the answer if it has the field, and it is true; otherwise a VerificationError with its message.
func holding(field string) func(json.RawMessage, error) (json.RawMessage, error) {
	return func(data json.RawMessage, err error) (json.RawMessage, error) {
		if err != nil {
			return nil, err
		}
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(data, &answer); err != nil {
			return nil, err
		}
		switch string(answer[field]) {
		case "", "null", "false":
		default:
			return data, nil
		}
		message := "the answer has no " + field
		_ = json.Unmarshal(answer["message"], &message)
		lines := strings.Split(message[:min(len(message), maxReasonBytes)], "\n")
		for index, line := range lines {
			lines[index] = shown(strings.TrimSpace(line))
		}
		// The lines of a server are indented, so that none looks like a line of the test runner.
		return nil, &VerificationError{Message: strings.Join(lines, "\n  ")}
	}
}

// decoded is the data of an answer as a value.
func decoded[T any](data json.RawMessage, err error) (T, error) {
	var value T
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return value, newLabError(0, "", "the answer is not of a simulator: "+err.Error(), err)
	}
	return value, nil
}

// Lab controls a running simulator: its time, snapshots, faults, journal, services and identities.
type Lab struct {
	url    string
	token  string
	client *http.Client
}

// call sends a request. A string as body is sent as YAML, another one as JSON; the fields of query become its parts.
func (lab *Lab) call(method, path string, body, query any) (json.RawMessage, error) {
	contentType := "application/json"
	var sent io.Reader
	switch content := body.(type) {
	case nil:
	case string:
		contentType = "application/yaml"
		sent = bytes.NewBufferString(content)
	default:
		text, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	parts, err := partsOf(query)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, lab.url+path+parts, sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("authorization", "Bearer "+lab.token)
	request.Header.Set("content-type", contentType)
	answer, err := lab.client.Do(request)
	if err != nil {
		return nil, newLabError(0, "", err.Error(), err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, newLabError(answer.StatusCode, "", err.Error(), err)
	}
	if len(text) > maxAnswerBytes {
		return nil, newLabError(answer.StatusCode, "", fmt.Sprintf("the answer has more than %d bytes", maxAnswerBytes), nil)
	}
	return dataOf(answer.StatusCode, text)
}

func partsOf(query any) (string, error) {
	if query == nil {
		return "", nil
	}
	text, err := json.Marshal(query)
	if err != nil {
		return "", err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", err
	}
	values := url.Values{}
	for name, value := range fields {
		values.Set(name, fmt.Sprint(value))
	}
	if len(values) == 0 {
		return "", nil
	}
	return "?" + values.Encode(), nil
}

type envelope struct {
	Data  json.RawMessage `json:"data"`
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Cause   struct {
			Field   string `json:"field"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"cause"`
	} `json:"error"`
}

func dataOf(status int, text []byte) (json.RawMessage, error) {
	var answer envelope
	if err := json.Unmarshal(text, &answer); err != nil {
		start := string(text[:min(len(text), maxShownBytes)])
		return nil, newLabError(status, "", "the answer is not of a simulator: "+start, nil)
	}
	if status < http.StatusBadRequest {
		return answer.Data, nil
	}
	cause := answer.Error.Cause
	message := answer.Error.Message
	switch {
	case cause.Field != "" && cause.Reason != "":
		message = cause.Field + ": " + cause.Reason
	case cause.Reason != "":
		message = cause.Reason
	case cause.Message != "":
		message = cause.Message
	}
	return nil, newLabError(status, answer.Error.Code, message, nil)
}
