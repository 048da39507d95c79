package edgeweave

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// login logs in with the certificate of an identity file, and returns the token of the session.
func login(t *testing.T, simulator *Simulator, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var identity struct {
		API string `json:"ztAPI"`
		ID  struct{ Cert, Key string }
	}
	if err := json.Unmarshal(text, &identity); err != nil {
		t.Fatal(err)
	}
	pem := func(text string) []byte { return []byte(strings.TrimPrefix(text, "pem:")) }
	pair, err := tls.X509KeyPair(pem(identity.ID.Cert), pem(identity.ID.Key))
	if err != nil {
		t.Fatal(err)
	}
	transport := simulator.HTTP.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	client := &http.Client{Transport: transport}
	answer, err := client.Post(identity.API+"/authenticate?method=cert", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var session struct{ Data struct{ Token string } }
	if err := json.NewDecoder(answer.Body).Decode(&session); err != nil || session.Data.Token == "" {
		t.Fatalf("status %d, %v", answer.StatusCode, err)
	}
	return session.Data.Token
}

func statusWith(t *testing.T, simulator *Simulator, token string) int {
	t.Helper()
	request, err := http.NewRequest("GET", simulator.Client+"/current-identity", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("zt-session", token)
	answer, err := simulator.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// recordingTB keeps the text of a failure, and ends the goroutine as a failed test does.
type recordingTB struct {
	testing.TB
	text string
}

func (tb *recordingTB) Fatalf(format string, arguments ...any) {
	tb.text = fmt.Sprintf(format, arguments...)
	runtime.Goexit()
}

func TestLab(t *testing.T) {
	simulator := Start(t)

	t.Run("an enrolled identity logs in, and its session expires", func(t *testing.T) {
		simulator.Reset()
		token := login(t, simulator, simulator.Identity("anna", "staff"))
		if status := statusWith(t, simulator, token); status != 200 {
			t.Fatal(status)
		}
		simulator.Advance(31 * time.Minute)
		if status := statusWith(t, simulator, token); status != 401 {
			t.Fatal(status)
		}
	})

	t.Run("a fault is hit, and the journal shows it", func(t *testing.T) {
		simulator.Reset()
		status, times, failed := 503, 1, true
		must(simulator.Lab.CreateFault(CreateFaultBody{
			Kind: "http", Operation: "getCurrentIdentity", Status: &status, Times: &times,
		}))(t)
		token := login(t, simulator, simulator.Identity("anna"))
		if first, second := statusWith(t, simulator, token), statusWith(t, simulator, token); first != 503 || second != 200 {
			t.Fatal(first, second)
		}
		entries := must(simulator.Lab.ListJournal(ListJournalQuery{Failed: &failed}))(t)
		if len(entries) != 1 || entries[0].Fault == "" {
			t.Fatal(entries)
		}
	})

	t.Run("a sequence of answers is given one by one", func(t *testing.T) {
		simulator.Reset()
		unavailable, busy := 503, 429
		fault := must(simulator.Lab.CreateFault(CreateFaultBody{
			Kind: "http", Operation: "getCurrentIdentity", Answers: []CreateFaultAnswer{
				{Status: &unavailable, Headers: map[string]string{"retry-after": "1"}}, {Status: &busy}, {},
			},
		}))(t)
		token := login(t, simulator, simulator.Identity("anna"))
		for _, wanted := range []int{503, 429, 200, 200} {
			if status := statusWith(t, simulator, token); status != wanted {
				t.Fatal(status, wanted)
			}
		}
		if faults := must(simulator.Lab.ListFaults())(t); len(faults) != 1 || faults[0].ID != fault.ID || faults[0].Hits != 3 {
			t.Fatal(faults)
		}
	})

	t.Run("a snapshot is restored, the clock too", func(t *testing.T) {
		simulator.Reset()
		simulator.Snapshot("base")
		must(simulator.Lab.Seed("services: [{ name: wiki, encryptionRequired: true }]", SeedQuery{}))(t)
		simulator.Advance(time.Hour)
		simulator.Restore("base")
		if export := must(simulator.Lab.ExportNetwork())(t); len(export["services"]) != 0 {
			t.Fatal(export)
		}
		if clock := must(simulator.Lab.DetailClock())(t); clock.Advanced != "0s" {
			t.Fatal(clock)
		}
	})

	t.Run("an expectation that does not hold fails with the nearest entries", func(t *testing.T) {
		simulator.Reset()
		login(t, simulator, simulator.Identity("anna"))
		simulator.VerifyJournal(VerifyJournalBody{Operation: "authenticate"})
		if entry := simulator.WaitForEntry(WaitForEntryBody{Operation: "authenticate"}); *entry.Status != 200 {
			t.Fatal(entry)
		}
		status, times := 503, 2
		nearest := "; the nearest:\n  #"
		for _, each := range []struct {
			text string
			call func() (any, error)
		}{
			{", and has 1", func() (any, error) {
				return simulator.Lab.VerifyJournal(VerifyJournalBody{Operation: "authenticate", Times: &times})
			}},
			{nearest, func() (any, error) {
				return simulator.Lab.VerifyJournal(VerifyJournalBody{Operation: "authenticate", Status: &status})
			}},
			{nearest, func() (any, error) {
				return simulator.Lab.WaitForEntry(WaitForEntryBody{Operation: "authenticate", Status: &status, Timeout: "100ms"})
			}},
		} {
			_, err := each.call()
			var missing *VerificationError
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), each.text) {
				t.Fatal(err)
			}
		}
		if must(simulator.Lab.CheckJournal(VerifyJournalBody{Operation: "authenticate", Times: &times}))(t).Verified {
			t.Fatal("there is one entry")
		}
		missing := WaitForEntryBody{Operation: "authenticate", Status: &status, Timeout: "0s"}
		if must(simulator.Lab.FindEntry(missing))(t).Entry != nil {
			t.Fatal("there is no such entry")
		}
	})

	t.Run("the methods of a simulator fail the test", func(t *testing.T) {
		failing := &recordingTB{TB: t}
		other := *simulator
		other.t = failing
		for _, call := range []func(){
			func() { other.VerifyJournal(VerifyJournalBody{Operation: "listServices"}) },
			func() { other.WaitForEntry(WaitForEntryBody{Operation: "listServices", Timeout: "10ms"}) },
		} {
			failing.text = ""
			done := make(chan struct{})
			go func() { defer close(done); call() }()
			<-done
			if !strings.Contains(failing.text, "must have at least 1 entry") {
				t.Fatal(failing.text)
			}
		}
	})

	t.Run("a rejection has its reason", func(t *testing.T) {
		_, err := simulator.Lab.RestoreSnapshot("strt", RestoreSnapshotBody{})
		rejection, isLabError := err.(*LabError)
		if !isLabError || rejection.Status != 404 || !strings.Contains(rejection.Message, "did you mean start") {
			t.Fatal(err)
		}
	})
}

func TestNetwork(t *testing.T) {
	network := StartNetwork(t, 2)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			connection, err := server.Accept()
			if err != nil {
				return
			}
			go func() { defer connection.Close(); _, _ = io.Copy(connection, connection) }()
		}
	}()
	echoed := func(address string) {
		t.Helper()
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := connection.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		received := make([]byte, 5)
		if _, err := io.ReadFull(connection, received); err != nil || string(received) != "hello" {
			t.Fatal(string(received), err)
		}
	}
	// A service of the same name, right after a reset and a lost connection.
	for range [3]int{} {
		address := network.Service("echo", "b", server.Addr().(*net.TCPAddr).Port)
		echoed(address)
		if err := network.Lab.DisconnectRouter("a"); err != nil {
			t.Fatal(err)
		}
		network.WaitUntilReady()
		echoed(address)
		network.Reset()
	}
	if len(network.Routers) != 2 || network.Routers[0].Name != "a" {
		t.Fatal(network.Routers)
	}
}

// TestMain lets this program be the runner that TestKilledRunner kills.
func TestMain(m *testing.M) {
	if os.Getenv("EDGEWEAVE_TEST_RUNNER") == "" {
		os.Exit(m.Run())
	}
	command := exec.Command(os.Getenv(commandVariable), "start", "--json", "--exit-with-stdin")
	input, _ := command.StdinPipe()
	command.Stdout = os.Stdout
	_ = command.Start()
	time.Sleep(10 * time.Minute)
	_ = input.Close()
}

func TestKilledRunner(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := exec.Command(program)
	runner.Env = append(os.Environ(), "EDGEWEAVE_TEST_RUNNER=1")
	output, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var ready Ready
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatal(err)
	}
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = runner.Wait()
	for deadline := time.Now().Add(20 * time.Second); isRunning(ready.Pid); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the simulator still runs")
		}
	}
}

// isRunning is false also for a process whose exit code nobody has asked for.
func isRunning(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
