"""What a team's first tests do: enroll, expire a session, fail a request, explain access, isolate."""

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from edgeweave import LabError, Simulator, StartError, VerificationError


def login(simulator, identity_file):
    """A login with the certificate of an identity file; returns the token of the session."""
    with open(identity_file, encoding="utf8") as file:
        identity = json.load(file)
    pem = os.path.join(os.path.dirname(identity_file), "pair.pem")
    with open(pem, "w", encoding="utf8") as file:
        file.write(identity["id"]["cert"].removeprefix("pem:") + identity["id"]["key"].removeprefix("pem:"))
    tls = ssl.create_default_context(cafile=simulator.ca)
    tls.load_cert_chain(pem)
    url = f"{identity['ztAPI']}/authenticate?method=cert"
    request = urllib.request.Request(url, method="POST", data=b"{}", headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, context=tls) as answer:
        return json.load(answer)["data"]["token"]


def status_with(simulator, token):
    tls = ssl.create_default_context(cafile=simulator.ca)
    request = urllib.request.Request(f"{simulator.client_url}/current-identity", headers={"zt-session": token})
    try:
        with urllib.request.urlopen(request, context=tls) as answer:
            return answer.status
    except urllib.error.HTTPError as rejection:
        return rejection.code


def test_an_enrolled_identity_logs_in_and_its_session_expires(edgeweave_simulator):
    token = login(edgeweave_simulator, edgeweave_simulator.identity("anna", ["staff"]))
    assert status_with(edgeweave_simulator, token) == 200
    edgeweave_simulator.lab.advance_clock("31m")
    assert status_with(edgeweave_simulator, token) == 401


def test_each_test_starts_from_the_same_state(edgeweave_simulator):
    lab = edgeweave_simulator.lab
    assert lab.detail_clock()["advanced"] == "0s"
    assert lab.list_faults() == []
    assert lab.export_network()["identities"] == []


def test_a_fault_is_hit_and_shown_in_the_journal(edgeweave_simulator):
    lab = edgeweave_simulator.lab
    lab.create_fault("http", operation="getCurrentIdentity", status=503, times=1)
    token = login(edgeweave_simulator, edgeweave_simulator.identity("anna"))
    assert [status_with(edgeweave_simulator, token) for _ in range(2)] == [503, 200]
    (failed,) = lab.list_journal(failed=True)
    assert failed["fault"] == lab.list_faults()[0]["id"]


def test_a_sequence_of_answers_is_given_one_by_one(edgeweave_simulator):
    answers = [{"status": 503, "headers": {"retry-after": "1"}}, {"status": 429}, {}]
    edgeweave_simulator.lab.create_fault("http", operation="getCurrentIdentity", answers=answers)
    token = login(edgeweave_simulator, edgeweave_simulator.identity("anna"))
    assert [status_with(edgeweave_simulator, token) for _ in range(4)] == [503, 429, 200, 200]


def test_an_expectation_that_does_not_hold_fails_with_the_nearest_entries(edgeweave_simulator):
    lab = edgeweave_simulator.lab
    login(edgeweave_simulator, edgeweave_simulator.identity("anna"))
    assert lab.verify_journal(operation="authenticate", times=1)["count"] == 1
    assert lab.wait_for_entry(operation="authenticate")["entry"]["status"] == 200
    with pytest.raises(VerificationError, match=r"must have 2 entries.*, and has 1$"):
        lab.verify_journal(operation="authenticate", times=2)
    with pytest.raises(VerificationError, match=r"has 0; the nearest:\n  #\d+ POST /edge/client/v1/authenticate 200 \(its"):
        lab.verify_journal(operation="authenticate", status=503)
    with pytest.raises(VerificationError, match=r"within 0.1s, and has 0; the nearest:\n  #"):
        lab.wait_for_entry(operation="authenticate", status=503, timeout="100ms")
    assert lab.check_journal(operation="authenticate", times=2)["verified"] is False
    assert "entry" not in lab.find_entry(operation="authenticate", status=503, timeout="0s")


def test_a_rejection_has_its_reason(edgeweave_simulator):
    with pytest.raises(LabError, match="ten years") as rejection:
        edgeweave_simulator.lab.advance_clock("900000h")
    assert rejection.value.status == 400
    with pytest.raises(LabError, match="did you mean"):
        edgeweave_simulator.lab.restore_snapshot("strt")


def test_a_seed_is_created_and_access_is_explained(edgeweave_simulator):
    lab = edgeweave_simulator.lab
    lab.seed("identities: [{ name: anna }]\nservices: [{ name: wiki, encryptionRequired: true }]\n")
    assert lab.seed({"identities": [{"name": "anna"}]})["existing"]
    assert lab.why("anna", "wiki", "Dial")["allowed"] is False


def test_bytes_cross_two_routers(edgeweave_network):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=echo_once, args=[server], daemon=True).start()
        address = edgeweave_network.service("echo", "b", server.getsockname()[1])
        with socket.create_connection(address, timeout=20) as client:
            client.sendall(b"hello")
            assert client.recv(5) == b"hello"
    assert edgeweave_network.lab.why("a", "echo", "Dial")["allowed"]
    assert sorted(edgeweave_network.routers) == ["a", "b"]


def test_a_service_is_dialed_right_after_a_reset_and_a_lost_connection(edgeweave_network):
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=echo, args=[server], daemon=True).start()
        for _ in range(3):
            edgeweave_network.lab.reset()
            address = edgeweave_network.service("again", "b", server.getsockname()[1])
            edgeweave_network.lab.disconnect_router("a")
            edgeweave_network.wait_until_ready()
            with socket.create_connection(address, timeout=20) as client:
                client.sendall(b"hello")
                assert client.recv(5) == b"hello"


def test_a_wait_in_vain_says_what_is_missing(edgeweave_network):
    edgeweave_network.lab.create_fault("link", cut=True)
    with pytest.raises(LabError, match="no link joins a and b.*f1 \\(link\\)"):
        edgeweave_network.wait_until_ready("200ms")


def test_a_service_of_the_test_before_is_gone(edgeweave_network):
    assert edgeweave_network.lab.export_network()["services"] == []
    assert edgeweave_network.lab.detail_network()["totals"]["links"] == 1


def echo(server):
    while True:
        try:
            echo_once(server)
        except OSError:
            return  # the test is over


def echo_once(server):
    connection, _ = server.accept()
    with connection:
        while data := connection.recv(1024):
            connection.sendall(data)


def test_a_missing_program_is_named(monkeypatch):
    monkeypatch.setenv("EDGEWEAVE_SIM", "/nowhere/edgeweave-sim")
    with pytest.raises(StartError, match="set EDGEWEAVE_SIM"):
        Simulator()


def test_wrong_options_are_reported_with_the_log():
    with pytest.raises(StartError, match="unknown option '--prot'"):
        Simulator("--prot", "1")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_no_program_stays_when_the_runner_is_killed():
    code = "import time\nfrom edgeweave import Simulator\nprint(Simulator().ready['pid'], flush=True)\ntime.sleep(600)"
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root) as runner:
        pid = int(runner.stdout.readline())
        runner.kill()
    deadline = time.monotonic() + 20
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process without a parent that asks for its exit code keeps its id.
    with open(f"/proc/{pid}/stat", encoding="utf8") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
