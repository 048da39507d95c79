// Tuning of one end of a circuit. Names and defaults come from the configuration (schemas/config); the units here are
// bytes and milliseconds.

export interface XgressOptions {
  readonly txQueueSize: number;
  /**
   * Send window in bytes: initial, minimum, maximum. The maximum also limits the bytes that the peer may hold unread.
   */
  readonly txPortalStartSize: number;
  readonly txPortalMinSize: number;
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window, and the share of the acknowledged bytes that is added. */
  readonly txPortalIncreaseThresh: number;
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window, and the factor applied. */
  readonly txPortalRetxThresh: number;
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  readonly rxBufferSize: number;
  readonly retxStartMs: number;
  readonly retxScale: number;
  readonly retxAddMs: number;
  /** 0: no limit. */
  readonly retxMaxMs: number;
  /** 0: off. */
  readonly maxRttScale: number;
  readonly maxCloseWaitMs: number;
  /**
   * Timeouts in milliseconds: for the controller to create a circuit; for the first payload at the terminating end; for
   * a dial.
   */
  readonly getCircuitTimeout: number;
  readonly circuitStartTimeout: number;
  readonly connectTimeout: number;
}
