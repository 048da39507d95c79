// The host's part of end-to-end encryption: if the dialing end sent a key, the host creates a key pair and answers with
// its public key (reference fact: tunnel, section 3.4).

import { PeerDataKey } from '#wire/gen/numbers.ts';
import type { PeerData } from '#wire/peer-data.ts';
import { EncryptedStream, makeKeyPair, sessionKeys } from '../xgress/clients/end-to-end.ts';

/** Adds the host's key to `ours`. Returns undefined if the other end sent no key. @throws EncryptionError */
export function hostEncryption(theirs: PeerData, ours: Map<number, Buffer>): EncryptedStream | undefined {
  const peerKey = theirs.get(PeerDataKey.PublicKey);
  if (!peerKey) return undefined;
  const own = makeKeyPair();
  ours.set(PeerDataKey.PublicKey, own.publicKey);
  return EncryptedStream.begin(sessionKeys('host', own, peerKey));
}
