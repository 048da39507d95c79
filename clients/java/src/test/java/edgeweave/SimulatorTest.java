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
    assertEquals("0s", field(simulator.lab().detailClock(), "advanced"));
    simulator.lab().advanceClock("400d");
    simulator.lab().patchClock(Map.of("time", "2031-01-01T00:00:00Z", "rate", 0));
    assertEquals("2031-01-01T00:00:00.000Z", field(simulator.lab().detailClock(), "now"));
  }

  @Test
  void eachTestStartsFromTheSameState(Simulator simulator) {
    assertEquals("0s", field(simulator.lab().detailClock(), "advanced"));
    assertEquals(List.of(), simulator.lab().listFaults());
  }

  @Test
  void aFaultIsHitAndShownInTheJournal(Simulator simulator) throws Exception {
    simulator.lab().createFault("http", Map.of("operation", "listVersion", "status", 503, "times", 1));
    assertEquals(503, version(simulator));
    assertEquals(200, version(simulator));
    List<?> failed = (List<?>) simulator.lab().listJournal(Map.of("failed", true));
    assertEquals(1, failed.size());
    assertEquals(field(((List<?>) simulator.lab().listFaults()).get(0), "id"), field(failed.get(0), "fault"));
  }

  @Test
  void aSnapshotIsRestored(Simulator simulator) {
    simulator.lab().createSnapshot("base");
    simulator.lab().seed("services: [{ name: \"w\\u00efki\", encryptionRequired: true }]");
    Object services = field(simulator.lab().exportNetwork(), "services");
    assertEquals("w\u00efki", field(((List<?>) services).get(0), "name"));
    simulator.lab().restoreSnapshot("base");
    assertEquals(List.of(), field(simulator.lab().exportNetwork(), "services"));
  }

  @Test
  void anExpectationThatDoesNotHoldFailsWithTheNearestEntries(Simulator simulator) throws Exception {
    Lab lab = simulator.lab();
    assertEquals(200, version(simulator));
    assertEquals(1L, field(lab.verifyJournal(Map.of("operation", "listVersion", "times", 1)), "count"));
    assertEquals(200L, field(field(lab.waitForEntry(Map.of("operation", "listVersion")), "entry"), "status"));
    Map<String, ?> missing = Map.of("operation", "listVersion", "status", 503);
    Map<String, ?> late = Map.of("operation", "listVersion", "status", 503, "timeout", "100ms");
    for (Executable call :
        List.<Executable>of(() -> lab.verifyJournal(missing), () -> lab.waitForEntry(late))) {
      String message = assertThrows(VerificationError.class, call).getMessage();
      assertTrue(message.contains("; the nearest:\n  #"), message);
    }
    assertEquals(false, field(lab.checkJournal(missing), "verified"));
    assertEquals(null, field(lab.findEntry(late), "entry"));
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
