package edgeweave;

/** The simulator rejects a request; the message is its reason. */
public class LabException extends RuntimeException {
  private static final long serialVersionUID = 1;
  private final int status;

  LabException(String message, int status, Throwable cause) {
    super(message, cause);
    this.status = status;
  }

  /** The status of HTTP; 0 without an answer. */
  public int status() {
    return status;
  }
}
