// The targets of the benchmark's services, in a separate process. Its arguments are the ports, in the order of
// `TARGETS`.
//
//   sink   reads as many bytes as the first eight announce, then answers one byte
//   echo   sends all bytes back
//   stuck  never reads

import { createServer, type Socket } from 'node:net';
import { readInto } from '#lib/net/read-into.ts';
import { keepCompiledCode } from '#lib/process/memory.ts';
import { TARGETS } from './target-names.ts';

const ANNOUNCEMENT = 8;
/** All sinks read into it: memory of its own for each read would take them twice the time, which routers then lack. */
const MEMORY = Buffer.allocUnsafeSlow(256 * 1024);

const serve: Readonly<Record<(typeof TARGETS)[number], (socket: Socket) => void>> = {
  sink(socket) {
    let announcement: Buffer | undefined = Buffer.alloc(0);
    let left = 0;
    const onData = (data: Buffer) => {
      left -= data.length;
      if (announcement) {
        announcement = Buffer.concat([announcement, data.subarray(0, ANNOUNCEMENT)]);
        if (announcement.length < ANNOUNCEMENT) return;
        left += Number(announcement.readBigUInt64BE()) + ANNOUNCEMENT;
        announcement = undefined;
      }
      if (left <= 0) socket.end('k');
    };
    socket.on('data', onData);
    readInto(socket, MEMORY, onData);
    socket.resume();
  },
  echo: (socket) => void socket.setNoDelay(true).pipe(socket),
  stuck: (socket) => void socket.pause(),
};

keepCompiledCode();
for (const [index, name] of TARGETS.entries()) {
  const port = Number(process.argv[2 + index]);
  if (!port) continue;
  createServer((socket) => {
    socket.on('error', () => undefined); // loads may end in any way
    serve[name](socket);
  }).listen(port, '127.0.0.1');
}
