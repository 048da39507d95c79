package edgeweave;

import java.util.LinkedHashMap;
import java.util.Map;

/** Named options of a call; those that are not set are left out of the request. */
abstract class Options<O extends Options<O>> {
  private final Map<String, Object> fields = new LinkedHashMap<>();

  @SuppressWarnings("unchecked")
  O set(String name, Object value) {
    fields.put(name, value);
    return (O) this;
  }

  Map<String, Object> fields() {
    return fields;
  }
}
