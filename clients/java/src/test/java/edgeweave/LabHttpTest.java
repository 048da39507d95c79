package edgeweave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
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
