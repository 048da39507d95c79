package edgeweave;

import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the data of answers as records. Fields that a record does not have are ignored: a simulator may be newer. */
final class Answers {
  private Answers() {}

  /** @throws LabException for data that is not such a record */
  static <T> T read(Object data, Class<T> type) {
    try {
      if (data != null) return type.cast(valueOf(data, type));
    } catch (ReflectiveOperationException | RuntimeException error) {
      throw new LabException("the answer is not of a simulator: " + type.getSimpleName() + ": " + error.getMessage(), 0);
    }
    throw new LabException("the answer is not of a simulator: it has no data", 0);
  }

  /** @throws LabException for data that is not such a list */
  static <T> List<T> list(Object data, Class<T> type) {
    return ((List<?>) read(data, List.class)).stream().map(each -> read(each, type)).toList();
  }

  /** @throws LabException for data that has no fields */
  static Map<String, Object> document(Object data) {
    Map<String, Object> fields = new LinkedHashMap<>();
    ((Map<?, ?>) read(data, Map.class)).forEach((name, value) -> fields.put((String) name, value));
    return fields;
  }

  private static Object valueOf(Object data, Type type) throws ReflectiveOperationException {
    if (type instanceof ParameterizedType generic) {
      if (data == null) return null;
      Type[] parts = generic.getActualTypeArguments();
      if (generic.getRawType() == List.class) {
        List<Object> list = new ArrayList<>();
        for (Object each : (List<?>) data) list.add(valueOf(each, parts[0]));
        return list;
      }
      Map<String, Object> map = new LinkedHashMap<>();
      for (Map.Entry<?, ?> each : ((Map<?, ?>) data).entrySet())
        map.put((String) each.getKey(), valueOf(each.getValue(), parts[1]));
      return map;
    }
    Class<?> plain = (Class<?>) type;
    if (plain == double.class || plain == Double.class) return data == null ? null : ((Number) data).doubleValue();
    if (plain == long.class || plain == Long.class) return data == null ? null : ((Number) data).longValue();
    if (plain == boolean.class) return Boolean.class.cast(data);
    return plain.isRecord() && data != null ? recordOf((Map<?, ?>) data, plain) : plain.cast(data);
  }

  private static Object recordOf(Map<?, ?> fields, Class<?> type) throws ReflectiveOperationException {
    RecordComponent[] parts = type.getRecordComponents();
    Object[] values = new Object[parts.length];
    for (int index = 0; index < parts.length; index++) {
      Object data = fields.get(parts[index].getName());
      if (data == null && parts[index].getType().isPrimitive())
        throw new IllegalArgumentException(parts[index].getName() + " is missing");
      values[index] = valueOf(data, parts[index].getGenericType());
    }
    Class<?>[] types = Arrays.stream(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
    Constructor<?> constructor = type.getDeclaredConstructor(types);
    return constructor.newInstance(values);
  }
}
