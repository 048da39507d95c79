package edgeweave;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, strings, numbers (Long or Double), booleans and null. */
final class Json {
  /** Levels of a document; the simulator's answers have fewer. */
  private static final int DEEPEST = 100;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  /** @throws IllegalArgumentException for anything else than one JSON value */
  static Object parse(String text) {
    Json json = new Json(text);
    Object value = json.value(0);
    json.space();
    if (json.at < text.length()) throw json.wrong();
    return value;
  }

  static String write(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString();
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Options<?> options) write(options.fields(), out);
    else if (value instanceof Record record) write(fieldsOf(record), out);
    else if (value instanceof Map<?, ?> map) {
      String separator = "{";
      for (Map.Entry<?, ?> each : map.entrySet()) {
        out.append(separator);
        quote(String.valueOf(each.getKey()), out);
        out.append(':');
        write(each.getValue(), out);
        separator = ",";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Iterable<?> list) {
      out.append('[');
      String separator = "";
      for (Object each : list) {
        out.append(separator);
        write(each, out);
        separator = ",";
      }
      out.append(']');
    } else if (value == null || value instanceof Number || value instanceof Boolean) out.append(value);
    else quote(value.toString(), out);
  }

  /** Parts that are null are left out. */
  private static Map<String, Object> fieldsOf(Record record) {
    Map<String, Object> fields = new LinkedHashMap<>();
    try {
      for (RecordComponent part : record.getClass().getRecordComponents()) {
        Object value = part.getAccessor().invoke(record);
        if (value != null) fields.put(part.getName(), value);
      }
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
    return fields;
  }

  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') out.append('\\').append(each);
      else if (each < ' ') out.append(String.format("\\u%04x", (int) each));
      else out.append(each);
    }
    out.append('"');
  }

  private Object value(int depth) {
    if (depth > DEEPEST) throw wrong();
    space();
    if (at >= text.length()) throw wrong();
    switch (text.charAt(at)) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Map<String, Object> object(int depth) {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    if (ends('}')) return map;
    do {
      space();
      if (at >= text.length() || text.charAt(at) != '"') throw wrong();
      String name = string();
      expect(':');
      map.put(name, value(depth + 1));
    } while (continues('}'));
    return map;
  }

  private List<Object> array(int depth) {
    List<Object> list = new ArrayList<>();
    at++;
    if (ends(']')) return list;
    do list.add(value(depth + 1));
    while (continues(']'));
    return list;
  }

  private String string() {
    StringBuilder out = new StringBuilder();
    for (at++; at < text.length(); at++) {
      char each = text.charAt(at);
      if (each == '"') {
        at++;
        return out.toString();
      }
      if (each != '\\') out.append(each);
      else out.append(escaped());
    }
    throw wrong();
  }

  private char escaped() {
    at++;
    if (at >= text.length()) throw wrong();
    char each = text.charAt(at);
    int known = "bfnrt".indexOf(each);
    if (known >= 0) return "\b\f\n\r\t".charAt(known);
    if (each != 'u') return each;
    if (at + 4 >= text.length()) throw wrong();
    at += 4;
    int value = 0;
    for (char digit : text.substring(at - 3, at + 1).toCharArray()) {
      int bits = Character.digit(digit, 16);
      if (bits < 0) throw wrong();
      value = value << 4 | bits;
    }
    return (char) value;
  }

  private Object number() {
    int from = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
    String digits = text.substring(from, at);
    if (digits.isEmpty()) throw wrong();
    if (digits.matches("-?\\d{1,18}")) return Long.valueOf(digits);
    return Double.valueOf(digits);
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) throw wrong();
    at += word.length();
    return value;
  }

  private boolean ends(char end) {
    space();
    if (at >= text.length() || text.charAt(at) != end) return false;
    at++;
    return true;
  }

  private boolean continues(char end) {
    if (ends(end)) return false;
    expect(',');
    return true;
  }

  private void expect(char each) {
    if (!ends(each)) throw wrong();
  }

  private void space() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("invalid JSON at character " + at);
  }
}
