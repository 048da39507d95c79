// The first two messages of every channel connection: the dialer identifies itself, the listener accepts. Further
// headers depend on the kind of channel (reference fact: control channel, section 1.5; link, section 1.2).

import { asError, ClosedError } from '#lib/errors.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Underlay } from '../connection/underlay.ts';
import { HelloRejectedError, ProtocolError } from '../errors.ts';
import { ChannelHeader, ChannelType } from '../gen/numbers.ts';
import { encodeInt32, TRUE } from '../header-values.ts';
import { HELLO_SEQUENCE, type HeaderEntries, Message } from '../message.ts';

/**
 * Sends the hello and waits for its positive result. Otherwise closes the underlay and throws HelloRejectedError,
 * TimeoutError or the signal's reason.
 */
export async function sendHello(
  underlay: Underlay,
  id: string,
  headers: HeaderEntries,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<Message> {
  const hello = new Message(ChannelType.Hello, headers, id);
  hello.sequence = HELLO_SEQUENCE;
  underlay.write(hello.encode());
  let result: Message;
  const ended = onAbort(signal, (reason) => underlay.close(reason));
  try {
    signal?.throwIfAborted();
    result = await underlay.readMessage('the answer to the hello', milliseconds);
  } catch (error) {
    underlay.close();
    if (signal?.aborted) throw asError(signal.reason);
    if (error instanceof ClosedError)
      throw new HelloRejectedError('the other side closed the connection instead of answering the hello', {
        cause: error,
      });
    throw error;
  } finally {
    ended();
  }
  if (result.contentType !== ChannelType.Result || result.replyFor !== HELLO_SEQUENCE) {
    underlay.close();
    throw new ProtocolError(`the hello was answered by a message of type ${result.contentType}`);
  }
  if (!result.bool(ChannelHeader.ResultSuccess)) {
    underlay.close();
    throw new HelloRejectedError(result.body.toString() || 'the other side rejected the hello', { retriable: false });
  }
  return result;
}

/** Waits for the hello of a dialer. @throws ProtocolError for another message; the caller closes the connection */
export async function readHello(underlay: Underlay, milliseconds: number): Promise<Message> {
  const hello = await underlay.readMessage('the hello', milliseconds);
  if (hello.contentType !== ChannelType.Hello)
    throw new ProtocolError(`the first message has type ${hello.contentType} instead of a hello`);
  return hello;
}

/**
 * Answers a hello positively. `headers` are specific to the listener. The answer names the sequence of the hello: the
 * JVM SDK numbers its hello, and waits for this answer only.
 */
export function acceptHello(underlay: Underlay, hello: Message, headers: HeaderEntries): void {
  const result = new Message(ChannelType.Result, [
    ...headers,
    [ChannelHeader.ReplyFor, encodeInt32(hello.sequence)],
    [ChannelHeader.ResultSuccess, TRUE],
  ]);
  result.sequence = HELLO_SEQUENCE;
  underlay.write(result.encode());
}
