// Tuning of one end of a circuit. Names and defaults are those of the configuration (schemas/config); this type is what
// the code works with: bytes and milliseconds.

export interface XgressOptions {
  readonly txQueueSize: number;
  /** Send window in bytes: at the start, at least, at most. The maximum also limits what the peer may hold unread. */
  readonly txPortalStartSize: number;
  readonly txPortalMinSize: number;
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window, and what of the acknowledged bytes is added. */
  readonly txPortalIncreaseThresh: number;
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window, and its factor. */
  readonly txPortalRetxThresh: number;
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  readonly rxBufferSize: number;
  readonly retxStartMs: number;
  readonly retxScale: number;
  readonly retxAddMs: number;
  /** 0 for no limit. */
  readonly retxMaxMs: number;
  /** 0 for off. */
  readonly maxRttScale: number;
  readonly maxCloseWaitMs: number;
  /** Milliseconds: wait for the controller to make a circuit; for the first payload at the terminating end; for a dial. */
  readonly getCircuitTimeout: number;
  readonly circuitStartTimeout: number;
  readonly connectTimeout: number;
}
