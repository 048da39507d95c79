package edgeweave;

/**
 * The simulator rejects a request, or does not answer it; the message is the reason. It has one line, and no character that a
 * terminal obeys: it contains what a server says. It has no cause, whose text a stack trace would show.
 */
public class LabException extends RuntimeException {
  private static final long serialVersionUID = 1;
  /** Characters of a reason. */
  private static final int MAX_REASON = 2_000;
  /** Marks that change the direction of writing, ends of lines, and a mark of the order of bytes. */
  private static final String UNSEEN = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff";

  private final int status;

  LabException(String message, int status) {
    super(shown(message));
    this.status = status;
  }

  /** The status of HTTP; 0 without an answer. */
  public int status() {
    return status;
  }

  static String shown(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .limit(MAX_REASON)
        .forEach(
            each -> {
              boolean isHalf = each >= Character.MIN_SURROGATE && each <= Character.MAX_SURROGATE;
              if (Character.isISOControl(each) || isHalf || UNSEEN.indexOf(each) >= 0)
                out.append(String.format("\\u%04x", each));
              else out.appendCodePoint(each);
            });
    return out.toString();
  }
}
