package edgeweave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.function.Executable;

@ExtendWith(EdgeweaveExtension.class)
class SimulatorTest {
  private static int version(Simulator simulator) throws IOException, InterruptedException {
    HttpClient client = HttpClient.newBuilder().sslContext(simulator.tls()).build();
    URI uri = URI.create(simulator.text("client") + "/version");
    return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding()).statusCode();
  }

  private static Object field(Object map, String name) {
    return ((Map<?, ?>) map).get(name);
  }

  @Test
  void theClockIsAdvanced(Simulator simulator) {
    assertEquals("0s", simulator.lab().detailClock().advanced());
    simulator.lab().advanceClock("400d");
    simulator.lab().patchClock(new Lab.PatchClockOptions().time("2031-01-01T00:00:00Z").rate(0));
    assertEquals("2031-01-01T00:00:00.000Z", simulator.lab().detailClock().now());
  }

  @Test
  void eachTestStartsFromTheSameState(Simulator simulator) {
    assertEquals("0s", simulator.lab().detailClock().advanced());
    assertEquals(List.of(), simulator.lab().listFaults());
  }

  @Test
  void aFaultIsHitAndShownInTheJournal(Simulator simulator) throws Exception {
    simulator.lab().createFault("http", new Lab.CreateFaultOptions().operation("listVersion").status(503).times(1));
    assertEquals(503, version(simulator));
    assertEquals(200, version(simulator));
    List<Lab.JournalEntry> failed = simulator.lab().listJournal(new Lab.ListJournalOptions().failed(true));
    assertEquals(1, failed.size());
    assertEquals(simulator.lab().listFaults().get(0).id(), failed.get(0).fault());
  }

  @Test
  void aSequenceOfAnswersIsGivenOneByOne(Simulator simulator) throws Exception {
    var answers =
        List.of(
            new Lab.CreateFaultAnswer().status(503).headers(Map.of("retry-after", "1")),
            new Lab.CreateFaultAnswer().status(429),
            new Lab.CreateFaultAnswer());
    simulator.lab().createFault("http", new Lab.CreateFaultOptions().operation("listVersion").answers(answers));
    for (int status : new int[] {503, 429, 200, 200}) assertEquals(status, version(simulator));
    assertEquals(3, simulator.lab().listFaults().get(0).hits());
  }

  @Test
  void aSnapshotIsRestored(Simulator simulator) {
    simulator.lab().createSnapshot("base");
    simulator.lab().seed("services: [{ name: \"w\\u00efki\", encryptionRequired: true }]");
    Object services = simulator.lab().exportNetwork().get("services");
    assertEquals("w\u00efki", field(((List<?>) services).get(0), "name"));
    simulator.lab().restoreSnapshot("base");
    assertEquals(List.of(), simulator.lab().exportNetwork().get("services"));
  }

  @Test
  void anExpectationThatDoesNotHoldFailsWithTheNearestEntries(Simulator simulator) throws Exception {
    Lab lab = simulator.lab();
    assertEquals(200, version(simulator));
    var once = new Lab.VerifyJournalOptions().operation("listVersion").times(1);
    assertEquals(1, lab.verifyJournal(once).count());
    assertEquals(200L, lab.waitForEntry(new Lab.WaitForEntryOptions().operation("listVersion")).entry().status());
    var missing = new Lab.VerifyJournalOptions().operation("listVersion").status(503);
    var late = new Lab.WaitForEntryOptions().operation("listVersion").status(503).timeout("100ms");
    for (Executable call : List.<Executable>of(() -> lab.verifyJournal(missing), () -> lab.waitForEntry(late))) {
      String message = assertThrows(VerificationError.class, call).getMessage();
      assertTrue(message.contains("; the nearest:\n  #"), message);
    }
    assertEquals(false, lab.checkJournal(missing).verified());
    assertEquals(null, lab.findEntry(late).entry());
  }

  @Test
  void aRejectionHasItsReason(Simulator simulator) {
    LabException rejection = assertThrows(LabException.class, () -> simulator.lab().restoreSnapshot("strt"));
    assertEquals(404, rejection.status());
    assertTrue(rejection.getMessage().contains("did you mean start"), rejection.getMessage());
  }

  @Test
  void anIdentityHasAFile(Simulator simulator) throws IOException {
    String text = Files.readString(simulator.identity("anna", "staff"));
    assertTrue(text.contains("\"ztAPI\":\"" + simulator.text("client") + "\""), text);
    assertTrue(((String) field(field(Json.parse(text), "id"), "key")).startsWith("pem:-----BEGIN"));
  }

  @Test
  void bytesCrossTwoRouters(Network network) throws IOException {
    assertEquals(List.of("a", "b"), network.routers());
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread host =
          new Thread(
              () -> {
                while (!server.isClosed()) {
                  try (Socket socket = server.accept()) {
                    socket.getOutputStream().write(socket.getInputStream().readNBytes(5));
                  } catch (IOException ended) {
                    continue; // the client left, or the test is over
                  }
                }
              });
      host.start();
      for (int round = 0; round < 3; round++) {
        network.lab().reset();
        var address = network.service("echo", "b", server.getLocalPort());
        network.lab().disconnectRouter("a");
        network.waitUntilReady();
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
          socket.getOutputStream().write("hello".getBytes());
          assertEquals("hello", new String(socket.getInputStream().readNBytes(5)));
        }
      }
    }
  }

  @Test
  void wrongOptionsAreReportedWithTheLog() {
    IllegalStateException error = assertThrows(IllegalStateException.class, () -> Simulator.start("--prot", "1"));
    assertTrue(error.getMessage().contains("unknown option '--prot'"), error.getMessage());
  }

  @Test
  void aClosedSimulatorHasNoProcessAndNoFiles() throws IOException {
    Simulator simulator = Simulator.start();
    long pid = (Long) simulator.readyValue("pid");
    var file = simulator.identity("anna");
    simulator.close();
    assertTrue(ProcessHandle.of(pid).map(each -> !each.isAlive()).orElse(true));
    assertTrue(Files.notExists(file));
  }

  @Test
  void jsonIsReadAndWritten() {
    String text = "{\"a\":[1,-2.5e3,true,null,\"x\\\"\\\\\\u0041\\n\"],\"b\":{}}";
    assertEquals("{\"a\":[1,-2500.0,true,null,\"x\\\"\\\\A\\u000a\"],\"b\":{}}", Json.write(Json.parse(text)));
    Stream.of("", "{", "[1,]", "{\"a\" 1}", "\"a", "tru", "[1] 2", "[".repeat(1_000))
        .forEach(wrong -> assertThrows(IllegalArgumentException.class, () -> Json.parse(wrong), wrong));
  }
}
