// Package edgeweave starts the controller simulator, and networks with real routers, for tests. It needs only the standard
// library, and the executable edgeweave-sim: that of the variable EDGEWEAVE_SIM, else the one on the PATH.
package edgeweave

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const (
	commandVariable = "EDGEWEAVE_SIM"
	startTime       = 60 * time.Second
	stopTime        = 20 * time.Second
	requestTime     = 60 * time.Second
	logTail         = 2000
	maxHeadBytes    = 64 << 10
)

// Ready is the line that the program prints when it serves.
type Ready struct {
	Management string          `json:"management"`
	Client     string          `json:"client"`
	Lab        string          `json:"lab"`
	LabToken   string          `json:"labToken"`
	Ctrl       string          `json:"ctrl"`
	Username   string          `json:"username"`
	Password   string          `json:"password"`
	CA         string          `json:"ca"`
	Pid        int             `json:"pid"`
	Routers    []NetworkRouter `json:"routers"`
}

// NetworkRouter is a router of a network.
type NetworkRouter struct {
	Name string `json:"name"`
	// Edge is where SDKs connect: tls:host:port.
	Edge string `json:"edge"`
}

// Simulator is a running simulator. It stops with its test, and with the test's process in any case.
type Simulator struct {
	Ready
	Lab *Lab
	// HTTP trusts the simulator.
	HTTP *http.Client
	t    testing.TB
	dir  string
}

// Network is a simulator and real routers, with a link between each two.
type Network struct {
	*Simulator
}

// Start starts a simulator. Options are those of the command line. A failure ends the test.
func Start(t testing.TB, options ...string) *Simulator {
	t.Helper()
	return start(t, append([]string{"start"}, options...))
}

// StartNetwork starts a simulator and routers, named a, b, c and so on, with links.
func StartNetwork(t testing.TB, routers int, options ...string) *Network {
	t.Helper()
	return &Network{start(t, append([]string{"network", "--routers", strconv.Itoa(routers)}, options...))}
}

// Reset returns to the state, the clock and the faults after the start, and clears the journal.
func (simulator *Simulator) Reset() {
	simulator.t.Helper()
	must(simulator.Lab.Reset(ResetBody{}))(simulator.t)
}

// Snapshot keeps the state under a name, for Restore.
func (simulator *Simulator) Snapshot(name string) {
	simulator.t.Helper()
	must(simulator.Lab.CreateSnapshot(CreateSnapshotBody{Name: name}))(simulator.t)
}

// Restore returns to a snapshot: its state, clock and faults. The journal is empty then.
func (simulator *Simulator) Restore(name string) {
	simulator.t.Helper()
	must(simulator.Lab.RestoreSnapshot(name, RestoreSnapshotBody{}))(simulator.t)
}

// Advance adds to the simulator's time. What is due happens before it returns.
func (simulator *Simulator) Advance(duration time.Duration) {
	simulator.t.Helper()
	must(simulator.Lab.AdvanceClock(AdvanceClockBody{Duration: duration.String()}))(simulator.t)
}

// VerifyJournal fails the test unless the journal has the entries, and names the nearest ones. Lab.CheckJournal returns the
// result instead.
func (simulator *Simulator) VerifyJournal(body VerifyJournalBody) {
	simulator.t.Helper()
	must(simulator.Lab.VerifyJournal(body))(simulator.t)
}

// WaitForEntry returns the first entry of the journal that meets the filter, or fails the test and names the nearest ones.
func (simulator *Simulator) WaitForEntry(body WaitForEntryBody) JournalEntry {
	simulator.t.Helper()
	return *must(simulator.Lab.WaitForEntry(body))(simulator.t).Entry
}

// Identity enrolls an identity, which is created if it is missing. It returns the path of its file, which any SDK loads.
func (simulator *Simulator) Identity(name string, roleAttributes ...string) string {
	simulator.t.Helper()
	identity := must(simulator.Lab.EnrollIdentity(name, EnrollIdentityBody{RoleAttributes: roleAttributes}))(simulator.t)
	file, err := os.CreateTemp(simulator.dir, "identity-*.json")
	if err == nil {
		err = json.NewEncoder(file).Encode(identity)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		simulator.t.Fatal(err)
	}
	return file.Name()
}

// Service creates a service that a router forwards to a TCP server, and that everybody may dial. It returns an address that
// leads to it, for clients without an SDK.
func (network *Network) Service(name, router string, port int) string {
	network.t.Helper()
	service := must(network.Lab.CreateService(CreateServiceBody{Name: name, Host: router, Port: port}))(network.t)
	return net.JoinHostPort(service.Dial.Host, strconv.Itoa(service.Dial.Port))
}

// WaitUntilReady returns when routers, links and hosts are as the controller wants them, such as after the end of a fault. The test
// ends if they are not within 15 seconds, with what is missing and why.
func (network *Network) WaitUntilReady() {
	network.t.Helper()
	if err := network.Lab.WaitForNetwork(WaitForNetworkBody{}); err != nil {
		network.t.Fatalf("edgeweave: %v", err)
	}
}

// must returns the value of a call, or fails the test with its error.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatalf("edgeweave: %v", err)
		}
		return value
	}
}

func start(t testing.TB, arguments []string) *Simulator {
	t.Helper()
	wanted := os.Getenv(commandVariable)
	if wanted == "" {
		wanted = "edgeweave-sim"
	}
	program, err := exec.LookPath(wanted)
	if err != nil {
		t.Fatalf("edgeweave: %s was not found; set %s to the path of edgeweave-sim", wanted, commandVariable)
	}
	dir := t.TempDir()
	logFile := filepath.Join(dir, "simulator.log")
	// Standard input ends with this process, however it ends.
	command := exec.Command(program, append(arguments, "--json", "--exit-with-stdin")...)
	line, err := run(t, command, logFile)
	if err != nil {
		t.Fatalf("edgeweave: %s did not start: %v\n%s", program, err, tail(logFile))
	}
	simulator := &Simulator{t: t, dir: dir}
	if err := json.Unmarshal(line, &simulator.Ready); err != nil {
		t.Fatalf("edgeweave: %s printed no ready line: %v", program, err)
	}
	if simulator.HTTP, err = clientFor(simulator.CA); err != nil {
		t.Fatalf("edgeweave: %v", err)
	}
	simulator.Lab = &Lab{url: simulator.Ready.Lab, token: simulator.LabToken, client: simulator.HTTP}
	return simulator
}

// run starts the program and returns its first line.
func run(t testing.TB, command *exec.Cmd, logFile string) ([]byte, error) {
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command.Stderr = log
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() { stop(command, input) })
	late := time.AfterFunc(startTime, func() { _ = command.Process.Kill() })
	defer late.Stop()
	return bufio.NewReader(output).ReadBytes('\n')
}

func stop(command *exec.Cmd, input io.Closer) {
	_ = input.Close()
	late := time.AfterFunc(stopTime, func() { _ = command.Process.Kill() })
	defer late.Stop()
	_ = command.Wait()
}

func clientFor(ca string) (*http.Client, error) {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s has no certificates", ca)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxResponseHeaderBytes: maxHeadBytes}
	return &http.Client{Transport: transport, Timeout: requestTime}, nil
}

func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	if len(text) > logTail {
		text = text[len(text)-logTail:]
	}
	return string(text)
}
