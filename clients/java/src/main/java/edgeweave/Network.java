package edgeweave;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;

/** A simulator and real routers, named a, b, c and so on, with a link between each two. */
public final class Network extends Simulator {
  private Network(List<String> options) {
    super("network", options);
  }

  /** @throws IllegalStateException with the end of the log if it does not start */
  public static Network start(int routers) {
    return new Network(List.of("--routers", Integer.toString(routers)));
  }

  /**
   * Creates a service that a router forwards to a TCP server, and that everybody may dial. @return an address that leads to
   * it, for clients without an SDK
   */
  public InetSocketAddress service(String name, String router, int port) {
    Lab.DialPlace dial = lab().createService(name, router, port).dial();
    return new InetSocketAddress(dial.host(), (int) dial.port());
  }

  /**
   * Returns when routers, links and hosts are as the controller wants them, such as after the end of a fault. @throws
   * LabException that says what is missing and why, after 15 seconds
   */
  public void waitUntilReady() {
    lab().waitForNetwork();
  }

  /** The names of the routers. */
  public List<String> routers() {
    return ((List<?>) readyValue("routers")).stream().map(each -> (String) ((Map<?, ?>) each).get("name")).toList();
  }
}
