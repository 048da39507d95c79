package edgeweave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;

/** A server that answers rubbish, or without an end: each is an error, with bounded memory. */
class LabHttpTest {
  @Test
  void rubbishIsAnError() throws Exception {
    for (String text : new String[] {"", "\0", "[]", "null", "5", "<html>", "[".repeat(100_000), "{\"error\":5}"})
      for (int status : new int[] {200, 500}) {
        if (status == 200 && text.startsWith("{")) continue;
        LabException error = rejection(status, out -> write(out, text.getBytes(StandardCharsets.UTF_8)));
        assertEquals(status, error.status(), text.substring(0, Math.min(20, text.length())));
        assertTrue(error.getMessage().length() < 1_000);
      }
  }

  @Test
  void anEndlessAnswerIsAnError() throws Exception {
    byte[] part = new byte[1 << 20];
    LabException error =
        rejection(
            200,
            out -> {
              while (write(out, part)) continue;
            });
    assertTrue(error.getMessage().contains("more than"), error.getMessage());
  }

  @Test
  void anAnswerThatDripsIsAnErrorAfterItsTime() throws Exception {
    String head = "HTTP/1.1 200 OK\r\n";
    String[][] drips = {
      {"HTTP/1.1 200 O", "K"},
      {head + "x: ", "x"},
      {head, "x: y\r\n"},
      {"", "HTTP/1.1 100 Continue\r\n\r\n"},
      {head + "content-length: 1000000\r\n\r\n", " "},
      {head + "transfer-encoding: chunked\r\n\r\n", "1\r\n \r\n"},
    };
    for (String[] each : drips)
      assertThrows(LabException.class, () -> sent(each[0], each[1], Duration.ofSeconds(1)), each[0] + each[1]);
  }

  @Test
  void errorsHaveNoCharactersThatATerminalObeys() throws Exception {
    String evil = "\u001b]0;owned\u0007\u001b[2J\nok: all well\u202e\u2066\r\u009b31m";
    String quoted = Json.write(evil);
    String[] answers = {
      evil,
      "HTTP/1.1 " + evil + "\r\n\r\n",
      "HTTP/1.1 500 \u001b[2J\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\u001b[2J: \u001b[2J\r\n\r\n",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\u001b[2J\r\n",
      "HTTP/1.1 200 OK\r\n\r\n" + evil,
      "HTTP/1.1 400 Bad\r\n\r\n{\"error\":{\"cause\":{\"field\":" + quoted + ",\"reason\":" + quoted + "}}}",
      "HTTP/1.1 400 Bad\r\n\r\n\"\\u\u001b[2J\"",
    };
    for (String answer : answers) {
      LabException error = assertThrows(LabException.class, () -> sent(answer, "", Duration.ofSeconds(20)), answer);
      StringWriter report = new StringWriter();
      error.printStackTrace(new PrintWriter(report));
      String text = report.toString().replace(System.lineSeparator(), "").replace("\t", "");
      assertTrue((text + error.getMessage()).codePoints().noneMatch(LabHttpTest::isObeyed), Json.write(text));
    }
  }

  private static boolean isObeyed(int each) {
    int type = Character.getType(each);
    return type == Character.CONTROL || type == Character.FORMAT || type == Character.LINE_SEPARATOR;
  }

  /** Calls a server that writes the start of an answer, and then its part again and again, or closes the connection. */
  private static Object sent(String start, String part, Duration timeout) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread writer =
          new Thread(
              () -> {
                try (Socket socket = server.accept()) {
                  socket.getInputStream().read(new byte[65_536]);
                  OutputStream out = socket.getOutputStream();
                  out.write(start.getBytes(StandardCharsets.UTF_8));
                  while (!part.isEmpty()) {
                    out.write(part.getBytes(StandardCharsets.UTF_8));
                    Thread.sleep(20);
                  }
                } catch (IOException | InterruptedException error) {
                  return; // the client has left
                }
              });
      writer.setDaemon(true);
      writer.start();
      String url = "http://127.0.0.1:" + server.getLocalPort();
      return new LabHttp(url, "t", SSLContext.getDefault(), timeout).call("GET", "/x", null, null);
    }
  }

  private static LabException rejection(int status, Consumer<OutputStream> answer) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    ExecutorService executor = Executors.newCachedThreadPool();
    server.setExecutor(executor);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(status, 0);
          answer.accept(exchange.getResponseBody());
          exchange.close();
        });
    server.start();
    try {
      String url = "http://127.0.0.1:" + server.getAddress().getPort();
      LabHttp lab = new LabHttp(url, "t", SSLContext.getDefault());
      return assertThrows(LabException.class, () -> lab.call("GET", "/x", null, null));
    } finally {
      server.stop(0);
      executor.shutdownNow();
    }
  }

  private static boolean write(OutputStream out, byte[] bytes) {
    try {
      out.write(bytes);
      return true;
    } catch (IOException error) {
      return false; // the client has left
    }
  }
}
