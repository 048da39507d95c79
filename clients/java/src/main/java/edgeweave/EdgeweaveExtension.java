package edgeweave;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a {@link Simulator} or a {@link Network} as parameter, each started once for all tests. Each test gets it as it
 * was after its start: entities, clock, faults, journal. `@ExtendWith(EdgeweaveExtension.class)`
 */
public final class EdgeweaveExtension implements ParameterResolver {
  private static final int ROUTERS = 2;

  private record Running(Simulator simulator) implements ExtensionContext.Store.CloseableResource {
    @Override
    public void close() {
      simulator.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Simulator.class || type == Network.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    Simulator simulator =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(EdgeweaveExtension.class))
            .getOrComputeIfAbsent(type, each -> new Running(open(each)), Running.class)
            .simulator();
    simulator.lab().reset();
    return simulator;
  }

  private static Simulator open(Class<?> type) {
    return type == Network.class ? Network.start(ROUTERS) : Simulator.start();
  }
}
