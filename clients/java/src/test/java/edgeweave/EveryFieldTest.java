package edgeweave;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;

/** Sends every field of every operation of the lab, and reads every field of its answer. */
class EveryFieldTest {
  @Test
  void everyFieldIsSentAndRead() throws Exception {
    EveryFieldCalls.checkAll();
  }

  static Object none(Runnable call) {
    call.run();
    return null;
  }

  /** The request is that of the sample, and so is the answer, if the call returns it. */
  static void check(Function<Lab, Object> call, String sample, boolean returns) throws Exception {
    Map<?, ?> wanted = (Map<?, ?>) Json.parse(sample);
    CompletableFuture<Map<String, Object>> received = new CompletableFuture<>();
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          Map<String, Object> query = new LinkedHashMap<>();
          String text = exchange.getRequestURI().getRawQuery();
          if (text != null)
            for (String part : text.split("&")) {
              String[] pair = part.split("=", 2);
              query.put(decoded(pair[0]), decoded(pair[1]));
            }
          Map<String, Object> request = new LinkedHashMap<>();
          request.put("method", exchange.getRequestMethod());
          request.put("path", exchange.getRequestURI().getRawPath());
          request.put("query", query);
          request.put("body", body.isEmpty() ? null : Json.parse(body));
          received.complete(request);
          byte[] answer = Json.write(Map.of("data", wanted.get("answer"))).getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    try {
      InetSocketAddress place = server.getAddress();
      String url = "http://" + place.getAddress().getHostAddress() + ":" + place.getPort();
      Object answer = call.apply(new Lab(url, "token", SSLContext.getDefault()));
      if (returns) assertEquals(wanted.get("answer"), Json.parse(Json.write(answer)), sample);
      for (String name : List.of("method", "path", "query", "body"))
        assertEquals(wanted.get(name), received.get().get(name), sample);
    } finally {
      server.stop(0);
    }
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
