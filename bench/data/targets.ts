// The targets of the benchmark's services, in a separate process. Its arguments are the ports, in the order of
// `TARGETS`.
//
//   sink   reads as many bytes as the first eight announce, then answers one byte
//   echo   sends all bytes back
//   stuck  never reads

import { createServer, type Socket } from 'node:net';
import { TARGETS } from './target-names.ts';

const ANNOUNCEMENT = 8;

const serve: Readonly<Record<(typeof TARGETS)[number], (socket: Socket) => void>> = {
  sink(socket) {
    let left = Number.NaN;
    socket.on('data', (data) => {
      left = Number.isNaN(left)
        ? Number((data as Buffer).readBigUInt64BE()) + ANNOUNCEMENT - data.length
        : left - data.length;
      if (left <= 0) socket.end('k');
    });
  },
  echo: (socket) => void socket.setNoDelay(true).pipe(socket),
  stuck: (socket) => void socket.pause(),
};

for (const [index, name] of TARGETS.entries()) {
  const port = Number(process.argv[2 + index]);
  if (!port) continue;
  createServer((socket) => {
    socket.on('error', () => undefined); // loads may end in any way
    serve[name](socket);
  }).listen(port, '127.0.0.1');
}
