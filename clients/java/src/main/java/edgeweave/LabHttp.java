package edgeweave;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Requests to the lab API with the JDK only. The lab token does not expire when a test advances the clock. */
class LabHttp {
  /** For a whole answer. */
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_ANSWER_BYTES = 64 * 1024 * 1024;
  /** Characters of an answer that is not JSON, in an error. */
  private static final int MAX_SHOWN = 200;

  private final String url;
  private final String token;
  private final HttpClient client;
  private final Duration timeout;

  LabHttp(String url, String token, SSLContext tls) {
    this(url, token, tls, TIMEOUT);
  }

  LabHttp(String url, String token, SSLContext tls, Duration timeout) {
    this.url = url;
    this.token = token;
    this.timeout = timeout;
    this.client = HttpClient.newBuilder().sslContext(tls).connectTimeout(timeout).build();
  }

  /** Trusts the certificate authorities of a file. */
  static SSLContext trusting(Path ca) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream input = Files.newInputStream(ca)) {
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(input))
        store.setCertificateEntry("ca" + store.size(), each);
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  /** The data of an answer; a text as body is sent as YAML, a map as JSON. @throws LabException */
  Object call(String method, String path, Object body, Map<String, ?> query) {
    String type = body instanceof String ? "application/yaml" : "application/json";
    String text = body == null ? "" : body instanceof String yaml ? yaml : Json.write(body);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url + path + partsOf(query)))
            .method(method, HttpRequest.BodyPublishers.ofString(text))
            .header("authorization", "Bearer " + token)
            .header("content-type", type)
            .timeout(timeout)
            .build();
    CompletableFuture<HttpResponse<String>> sent = client.sendAsync(request, head -> new Body());
    try {
      HttpResponse<String> answer = sent.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return dataOf(answer.statusCode(), answer.body());
    } catch (ExecutionException error) {
      throw new LabException("no simulator answers at " + url + ": " + error.getCause(), 0);
    } catch (TimeoutException error) {
      sent.cancel(true);
      throw new LabException("the answer is not complete after " + timeout.toSeconds() + " seconds", 0);
    } catch (InterruptedException error) {
      sent.cancel(true);
      Thread.currentThread().interrupt();
      throw new LabException("interrupted", 0);
    }
  }

  /** The answer, if it has the field and it is true. @throws VerificationError with its message otherwise */
  static Object holding(Object answer, String field) {
    Map<?, ?> fields = answer instanceof Map<?, ?> map ? map : Map.of();
    Object value = fields.get(field);
    if (value != null && !Boolean.FALSE.equals(value)) return answer;
    Object message = fields.get("message");
    throw new VerificationError(message == null ? "the answer has no " + field : message.toString());
  }

  static String quoted(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The options of a call, and the fields that it needs. */
  static Map<String, Object> with(Map<String, ?> options, Object... fields) {
    Map<String, Object> all = new LinkedHashMap<>(options);
    for (int index = 0; index < fields.length; index += 2) all.put((String) fields[index], fields[index + 1]);
    return all;
  }

  private static String partsOf(Map<String, ?> query) {
    if (query == null || query.isEmpty()) return "";
    return query.entrySet().stream()
        .map(each -> quoted(each.getKey()) + "=" + quoted(String.valueOf(each.getValue())))
        .collect(Collectors.joining("&", "?", ""));
  }

  private static Object dataOf(int status, String text) {
    Map<?, ?> answer;
    try {
      answer = (Map<?, ?>) Json.parse(text);
    } catch (IllegalArgumentException | ClassCastException error) {
      throw new LabException("the answer is not of a simulator: " + shown(text), status);
    }
    if (answer == null) throw new LabException("the answer is empty", status);
    if (status < 400) return answer.get("data");
    throw new LabException(reasonOf(answer.get("error"), text), status);
  }

  private static String reasonOf(Object error, String text) {
    if (!(error instanceof Map<?, ?> fields)) return shown(text);
    if (fields.get("cause") instanceof Map<?, ?> cause) {
      Object reason = cause.get("reason") != null ? cause.get("reason") : cause.get("message");
      Object field = cause.get("field");
      if (reason != null) return field == null || "".equals(field) ? reason.toString() : field + ": " + reason;
    }
    return String.valueOf(fields.get("message"));
  }

  private static String shown(String text) {
    return text.substring(0, Math.min(text.length(), MAX_SHOWN));
  }

  /** Collects the text of an answer; fails beyond the limit. */
  private static final class Body implements HttpResponse.BodySubscriber<String> {
    private final CompletableFuture<String> text = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private Flow.Subscription subscription;

    @Override
    public CompletionStage<String> getBody() {
      return text;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      this.subscription = subscription;
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> parts) {
      for (ByteBuffer part : parts) {
        if (text.isDone()) return;
        if (bytes.size() + part.remaining() > MAX_ANSWER_BYTES) {
          subscription.cancel();
          text.completeExceptionally(new IOException("the answer has more than " + MAX_ANSWER_BYTES + " bytes"));
          return;
        }
        byte[] chunk = new byte[part.remaining()];
        part.get(chunk);
        bytes.writeBytes(chunk);
      }
    }

    @Override
    public void onError(Throwable error) {
      text.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
      text.complete(bytes.toString(StandardCharsets.UTF_8));
    }
  }
}
