package edgeweave;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * A running simulator, on a free port. It stops with {@link #close}, and with this process in any case: its standard input
 * ends then. The executable is that of the variable EDGEWEAVE_SIM, else edgeweave-sim on the PATH.
 */
public class Simulator implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final long STOP_SECONDS = 20;
  private static final int LOG_TAIL = 2_000;

  private final Path folder;
  private final Process process;
  private final Map<?, ?> ready;
  private final SSLContext tls;
  private final Lab lab;

  /** Options are those of `edgeweave-sim start`. @throws IllegalStateException with the end of the log if it does not start */
  public static Simulator start(String... options) {
    return new Simulator("start", List.of(options));
  }

  Simulator(String command, List<String> options) {
    try {
      folder = Files.createTempDirectory("edgeweave-test-");
      List<String> arguments = new ArrayList<>(List.of(executable(), command));
      arguments.addAll(options);
      arguments.addAll(List.of("--json", "--exit-with-stdin"));
      File log = folder.resolve("simulator.log").toFile();
      process = new ProcessBuilder(arguments).redirectError(log).start();
      Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
      String line = firstLine(arguments, log.toPath());
      ready = (Map<?, ?>) Json.parse(line);
      tls = LabHttp.trusting(ca());
      lab = new Lab(text("lab"), text("labToken"), tls);
    } catch (IOException error) {
      throw new UncheckedIOException("edgeweave-sim cannot be started; set EDGEWEAVE_SIM to its path", error);
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  /** Time, snapshots, faults, the journal, services and identities. */
  public Lab lab() {
    return lab;
  }

  /** A value of the ready line, such as management, client, ctrl, username, password. */
  public String text(String name) {
    return String.valueOf(ready.get(name));
  }

  /** The file with the authorities that clients should trust. */
  public Path ca() {
    return Path.of(text("ca"));
  }

  /** Trusts the simulator. */
  public SSLContext tls() {
    return tls;
  }

  Object readyValue(String name) {
    return ready.get(name);
  }

  /** Enrolls an identity, which is created if it is missing. @return its file, which any SDK loads */
  public Path identity(String name, String... roleAttributes) {
    var options = new Lab.EnrollIdentityOptions().roleAttributes(List.of(roleAttributes));
    Lab.IdentityFile identity = lab.enrollIdentity(name, options);
    try {
      return Files.writeString(Files.createTempFile(folder, "identity-", ".json"), Json.write(identity));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Stops the program, and removes its files. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) process.destroyForcibly();
      try (Stream<Path> files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    } catch (InterruptedException error) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private static String executable() {
    String given = System.getenv("EDGEWEAVE_SIM");
    return given == null || given.isEmpty() ? "edgeweave-sim" : given;
  }

  private String firstLine(List<String> arguments, Path log) throws IOException {
    Thread late =
        new Thread(
            () -> {
              try {
                Thread.sleep(TimeUnit.SECONDS.toMillis(START_SECONDS));
                process.destroyForcibly();
              } catch (InterruptedException ready) {
                Thread.currentThread().interrupt();
              }
            });
    late.setDaemon(true);
    late.start();
    try {
      var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      String line = output.readLine();
      if (line != null) return line;
    } finally {
      late.interrupt();
    }
    String text = Files.readString(log);
    String tail = text.substring(Math.max(0, text.length() - LOG_TAIL));
    throw new IllegalStateException(String.join(" ", arguments) + " did not start:\n" + tail);
  }
}
