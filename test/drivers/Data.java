// The SDK for the JVM, in the versions that have Ziti.enroll (0.22 to 0.26), enrolls, hosts and dials: echoes, large transfers, many
// connections. Prints a line for each step: "works: STEP" or "fails: STEP: REASON".
//
//     java -cp JARS Data.java version
//     java -cp JARS Data.java drive SERVICE TOKEN_OF_HOST TOKEN_OF_CLIENT

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openziti.Ziti;
import org.openziti.ZitiAddress;
import org.openziti.ZitiContext;

public class Data {
    private static final int MIB = 1024 * 1024;
    private static final int SMALL = 20_000;
    private static final int MANY = 50;
    /** The SDK loses what remains of a longer message when the application has read a part of it. */
    private static final int BLOCK = 32 * 1024;
    private static final long PATIENCE_SECONDS = 60;

    private static boolean failed = false;

    public static void main(String[] args) throws Exception {
        if (args[0].equals("version")) {
            System.out.println(version());
            return;
        }
        String service = args[1];
        ZitiContext[] contexts = new ZitiContext[2];
        boolean enrolled = step("enrollment and login", () -> {
            contexts[0] = enroll(args[2], service);
            contexts[1] = enroll(args[3], service);
        });
        if (enrolled && step("hosting at our router", () -> host(contexts[0], service))) {
            ZitiContext client = contexts[1];
            step("dialing at another router", () -> echo(dial(client, service), SMALL));
            step("30 MiB in both directions, with a half close", () -> echo(dial(client, service), 30 * MIB));
            step(MANY + " connections at once", () -> many(client, service));
        }
        System.out.flush();
        Runtime.getRuntime().halt(failed ? 1 : 0); // the threads of the SDK do not end by themselves
    }

    private static String version() throws Exception {
        Properties properties = new Properties();
        try (InputStream in = Ziti.class.getResourceAsStream("/org/openziti/util/ziti-version.properties")) {
            if (in != null) properties.load(in);
        }
        return properties.getProperty("version", "unknown");
    }

    private interface Step {
        void run() throws Exception;
    }

    private static boolean step(String name, Step step) {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            thread.submit((Callable<Void>) () -> {
                step.run();
                return null;
            }).get(2 * PATIENCE_SECONDS, TimeUnit.SECONDS);
            System.out.println("works: " + name);
            return true;
        } catch (Exception error) {
            Throwable cause = error;
            while (cause.getCause() != null) cause = cause.getCause();
            System.out.println("fails: " + name + ": " + cause.toString().replace('\n', ' '));
            failed = true;
            return false;
        } finally {
            thread.shutdownNow();
        }
    }

    /** Returns a context that sees the service. */
    private static ZitiContext enroll(String token, String service) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        // The context of an enrollment cannot log in: PKCS12 changes the case of the id under which the SDK looks for the key.
        Ziti.removeContext(Ziti.enroll(keys, token.getBytes(StandardCharsets.UTF_8), "driver"));
        List<ZitiContext> contexts = Ziti.init(keys, false);
        ZitiContext context = contexts.get(contexts.size() - 1);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (context.getService(service) == null) {
            if (System.nanoTime() > end)
                throw new IllegalStateException("it does not see the service; " + context.getStatus(), causeOf(context.getStatus()));
            Thread.sleep(200);
        }
        return context;
    }

    /** The error that the SDK keeps of a failed login. */
    private static Throwable causeOf(ZitiContext.Status status) {
        return status instanceof ZitiContext.Status.NotAuthorized denied ? denied.getEx() : null;
    }

    private static void host(ZitiContext context, String service) throws Exception {
        AsynchronousServerSocketChannel server = context.openServer();
        server.bind(new ZitiAddress.Bind(service), MANY);
        Thread accepting = new Thread(() -> {
            try {
                while (true) {
                    AsynchronousSocketChannel connection = server.accept().get();
                    new Thread(() -> serve(connection)).start();
                }
            } catch (InterruptedException | ExecutionException error) {
                System.err.println("accepting ended: " + error);
            }
        });
        accepting.setDaemon(true);
        accepting.start();
    }

    /** Echoes until the client has finished sending. */
    private static void serve(AsynchronousSocketChannel connection) {
        ByteBuffer buffer = ByteBuffer.allocate(BLOCK);
        try {
            while (connection.read(buffer.clear()).get() >= 0) write(connection, buffer.flip());
            connection.shutdownOutput();
        } catch (Exception error) {
            System.err.println("serving ended: " + error);
        }
    }

    /** Returns a connection, once there is a host. */
    private static AsynchronousSocketChannel dial(ZitiContext context, String service) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            AsynchronousSocketChannel connection = context.open();
            try {
                connection.connect(new ZitiAddress.Dial(service)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                return connection;
            } catch (ExecutionException rejection) {
                if (System.nanoTime() > end) throw rejection;
                Thread.sleep(200);
            }
        }
    }

    private static void many(ZitiContext context, String service) throws Exception {
        List<AsynchronousSocketChannel> connections = new ArrayList<>();
        for (int count = 0; count < MANY; count++) connections.add(dial(context, service));
        ExecutorService pool = Executors.newFixedThreadPool(MANY);
        List<Future<Void>> echoes = new ArrayList<>();
        for (AsynchronousSocketChannel connection : connections)
            echoes.add(pool.submit((Callable<Void>) () -> {
                echo(connection, SMALL);
                return null;
            }));
        for (Future<Void> each : echoes) each.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        pool.shutdown();
    }

    /** Sends random bytes, finishes sending, and demands the same bytes and the end of the stream. */
    private static void echo(AsynchronousSocketChannel connection, int size) throws Exception {
        byte[] sent = new byte[size];
        new Random(size).nextBytes(sent);
        Thread sender = new Thread(() -> {
            try {
                for (int start = 0; start < size; start += BLOCK)
                    write(connection, ByteBuffer.wrap(sent, start, Math.min(BLOCK, size - start)));
                connection.shutdownOutput();
            } catch (Exception error) {
                System.err.println("sending ended: " + error);
            }
        });
        sender.start();
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        ByteBuffer buffer = ByteBuffer.allocate(BLOCK);
        int count = 0;
        while (true) {
            int read = connection.read(buffer.clear()).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (read < 0) break;
            count += read;
            received.update(buffer.flip());
        }
        sender.join();
        connection.close();
        if (count != size) throw new IllegalStateException(count + " of " + size + " bytes were echoed");
        byte[] expected = MessageDigest.getInstance("SHA-256").digest(sent);
        if (!Arrays.equals(expected, received.digest())) throw new IllegalStateException("other bytes were echoed");
    }

    private static void write(AsynchronousSocketChannel connection, ByteBuffer buffer) throws Exception {
        while (buffer.hasRemaining()) connection.write(buffer).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
}
