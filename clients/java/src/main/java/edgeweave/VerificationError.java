package edgeweave;

import java.util.stream.Collectors;

/** The journal is not as the test expects; the message names the nearest entries, each in a line of its own. */
public final class VerificationError extends AssertionError {
  private static final long serialVersionUID = 1;

  /** The lines of a server are indented, so that none looks like a line of the test runner. */
  VerificationError(String message) {
    super(message.lines().map(String::strip).map(LabException::shown).collect(Collectors.joining("\n  ")));
  }
}
