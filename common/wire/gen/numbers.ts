// Generated from schemas/wire/numbers.json by `npm run generate`. Do not edit.

/** Header keys of the channel layer. Keys 10 to 18 have other meanings outside of hello messages. */
export const ChannelHeader = Object.freeze({
  ConnectionId: 0, // from both: string
  ReplyFor: 1, // from both: int32, sequence number of the answered message
  ResultSuccess: 2, // from both: bool
  HelloVersion: 4, // from both: bytes: version info of the peer
  Heartbeat: 5, // from both: uint64, sender clock in nanoseconds
  HeartbeatResponse: 6, // from both: uint64, the Heartbeat value of the peer
  UnderlayType: 7, // from both: string
  ListenerId: 8, // from listener: string, id of the answering side
  IsGrouped: 9, // from both: bool
  GroupSecret: 10, // from both: bytes
  FirstInGroup: 11, // from dialer: bool
  InjectedUnderlayType: 12, // from local: string
  HelloRejectClass: 13, // from listener: uint32: 1 busy, 2 not permitted
  HeartbeatReceived: 61001, // from both: uint64, clock in nanoseconds when the answered heartbeat arrived; between routers of this project
  Correlation: 128, // from both: bytes, copied from a request into its answer
} as const);
export type ChannelHeader = (typeof ChannelHeader)[keyof typeof ChannelHeader];

/** Content types of the channel layer itself, on every kind of channel. */
export const ChannelType = Object.freeze({
  Hello: 0, // from dialer: first message of a connection
  Ping: 1, // from both: answered by a Result with body `ok`
  Result: 2, // from both: success or failure of a request
  Latency: 3, // from both: answered by a Result
  LatencyResponse: 4, // from both: older answer to Latency
  Heartbeat: 5, // from both: carries only heartbeat headers
  Raw: 6, // from local: never on the wire as a frame
} as const);
export type ChannelType = (typeof ChannelType)[keyof typeof ChannelType];

/** Header keys of the hello between router and controller. */
export const ControlHeader = Object.freeze({
  LinkListeners: 1000, // from router: protobuf Listeners
  RouterMetadata: 1001, // from router: legacy
  Capabilities: 1002, // from both: big endian bit mask
  CtrlChanListeners: 1003, // from router: protobuf CtrlChanListeners
  ControlAddress: 2000, // from controller: string, `tls:host:port`
  ApiAddresses: 2002, // from controller: JSON text
  ClusterId: 2004, // from controller: string
  PreferredLeader: 2005, // from controller: bool
} as const);
export type ControlHeader = (typeof ControlHeader)[keyof typeof ControlHeader];

/** First body byte of an xgress control message. */
export const ControlMessageType = Object.freeze({
  TraceRoute: 1, // from both
  TraceRouteResponse: 2, // from both
} as const);
export type ControlMessageType = (typeof ControlMessageType)[keyof typeof ControlMessageType];

/** Content types between router and controller, fabric part. */
export const ControlType = Object.freeze({
  CircuitRequest: 1000, // from router: answered by CircuitSuccess or CircuitFailed
  CircuitSuccess: 1001, // from controller
  Fault: 1004, // from both
  Route: 1005, // from controller: answered by RouteResult
  Unroute: 1006, // from controller
  Metrics: 1007, // from router
  TogglePipeTraces: 1008, // from controller: answered by Result
  TraceEvent: 1010, // from router
  CreateTerminator: 1011, // from router: answered by Result
  RemoveTerminator: 1012, // from router: answered by Result
  InspectRequest: 1013, // from both: answered by InspectResponse
  InspectResponse: 1014, // from both
  CircuitFailed: 1016, // from controller
  ValidateTerminators: 1017, // from controller: older form of ValidateTerminatorsV2
  UpdateTerminator: 1018, // from router: answered by Result
  Settings: 1020, // from controller
  RouteResult: 1022, // from router
  CircuitConfirmation: 1034, // from router
  RouterLinks: 1035, // from router
  VerifyRouter: 1036, // from router: answered by Result
  UpdateCtrlAddresses: 1037, // from controller
  RemoveTerminators: 1038, // from router: answered by Result
  Quiesce: 1039, // from router: answered by Result
  Dequiesce: 1040, // from router: answered by Result
  ValidateTerminatorsV2: 1041, // from controller: answered by ValidateTerminatorsV2Response
  ValidateTerminatorsV2Response: 1042, // from router
  Decommission: 1043, // from router
  PeerStateChanges: 1050, // from controller
  UpdateClusterLeader: 1051, // from controller
  UpdateRouterInterfaces: 1052, // from router: answered by Result
  LinkState: 1053, // from router
  Alerts: 1054, // from router
  RequestClusterMembers: 1055, // from router: answered by UpdateCtrlAddresses as a separate message
  UpdateLinkListeners: 1056, // from router
} as const);
export type ControlType = (typeof ControlType)[keyof typeof ControlType];

/** Bits of ControlHeader.Capabilities as sent by a controller. */
export const ControllerCapability = Object.freeze({
  CreateTerminatorV2: 1,
  SingleSourceLinks: 2,
  CreateCircuitV2: 3,
  RouterDataModel: 4,
  GroupedControlChannel: 5,
  JwtLegacySessions: 6, // routers of the 2.x line reject a controller without it
} as const);
export type ControllerCapability = (typeof ControllerCapability)[keyof typeof ControllerCapability];

/** Header keys of edge control messages. Keys 10 to 18 belong to the circuit requests and their answers. */
export const EdgeControlHeader = Object.freeze({
  PeerData: 10, // from both: map uint32 to bytes
  SessionToken: 11, // from router: string; in answers the circuit id
  Fingerprints: 12, // from router: list of strings; in answers the ingress address
  TerminatorInstanceId: 13, // from router: string; in answers the tags, map of strings
  ApiSessionToken: 14, // from router: string
  IdentityId: 15, // from router: string
  ServiceId: 16, // from router: string
  CircuitId: 17, // from router: string; empty if the controller chooses
  RetryHint: 18, // from controller: uint32
  SyncStrategy: 1013, // from controller: string
  ErrorCode: 1014, // from controller: uint32; on ApiSessionAdded the sync state as JSON
  TerminatorId: 1022, // from router: string
  CheckPassed: 1023, // from router: bool
  RouterDataModel: 1024, // from both: bool
  RouterDataModelIndex: 1025, // from both: uint64
  SubscriptionId: 1026, // from controller: string; on Error the circuit id
} as const);
export type EdgeControlHeader = (typeof EdgeControlHeader)[keyof typeof EdgeControlHeader];

/** Content types between router and controller, edge part. */
export const EdgeControlType = Object.freeze({
  ServerHello: 20000, // from controller
  ClientHello: 20001, // from router
  Error: 20002, // from controller: failure of an edge request
  SessionRemoved: 20102, // from controller
  ApiSessionAdded: 20200, // from controller
  ApiSessionUpdated: 20201, // from controller
  ApiSessionRemoved: 20202, // from controller
  ApiSessionHeartbeat: 20203, // from router
  RequestClientReSync: 20204, // from router
  CreateCircuit: 20205, // from router: older routers
  CreateCircuitResponse: 20206, // from controller
  UpdateTerminator: 20209, // from router
  UpdateTerminatorResponse: 20210, // from controller
  RemoveTerminator: 20211, // from router
  RemoveTerminatorResponse: 20212, // from controller
  ValidateSessions: 20213, // from router
  HealthEvent: 20214, // from router
  CreateTerminatorV2: 20216, // from router
  CreateTerminatorV2Response: 20217, // from controller
  CreateCircuitV2: 20218, // from router: headers only
  CreateCircuitV2Response: 20219, // from controller: headers only
  CreateTunnelCircuitV2: 20220, // from router
  CreateTunnelCircuitV2Response: 20221, // from controller
  CreateCircuitV3: 20222, // from router: headers only
  CreateCircuitV3Response: 20223, // from controller: headers only
  EnrollmentCertsResponse: 20301, // from controller
  EnrollmentExtendRouter: 20302, // from router
  EnrollmentExtendRouterVerify: 20303, // from router
  CreateApiSession: 20400, // from router: older routers
  CreateApiSessionResponse: 20401, // from controller
  CreateCircuitForService: 20402, // from router: older routers
  CreateCircuitForServiceResponse: 20403, // from controller
  ListServices: 20404, // from router: older routers
  ServicesList: 20405, // from controller: not a reply
  CreateTunnelTerminator: 20406, // from router: older routers
  CreateTunnelTerminatorResponse: 20407, // from controller
  UpdateTunnelTerminator: 20408, // from router
  UpdateTunnelTerminatorResponse: 20409, // from controller
  RemoveTunnelTerminator: 20410, // from router
  RemoveTunnelTerminatorResponse: 20411, // from controller
  TunnelHealthEvent: 20412, // from router: headers only
  CreateTunnelTerminatorV2: 20413, // from router
  CreateTunnelTerminatorV2Response: 20414, // from controller
  ConnectEvents: 20415, // from router
  DataState: 20500, // from controller: full router data model
  DataStateChangeSet: 20501, // from controller: one change of the router data model
  ValidateDataState: 20503, // from controller
  ValidateDataStateResponse: 20504, // from router
  SubscribeToDataModel: 20505, // from router
  CurrentIndex: 20506, // from controller
} as const);
export type EdgeControlType = (typeof EdgeControlType)[keyof typeof EdgeControlType];

/** EdgeControlHeader.ErrorCode. */
export const EdgeErrorCode = Object.freeze({
  Ok: 0,
  Internal: 1,
  InvalidApiSession: 2,
  InvalidSession: 3,
  WrongSessionType: 4,
  InvalidEdgeRouterForSession: 5,
  InvalidService: 6,
  TunnelingNotEnabled: 7,
  InvalidTerminator: 8,
  InvalidPrecedence: 9,
  InvalidCost: 10,
  EncryptionDataMissing: 11,
  InvalidApiSessionType: 12,
  InvalidInstanceId: 13,
  AccessDenied: 14,
  PostureCheckFailed: 15,
} as const);
export type EdgeErrorCode = (typeof EdgeErrorCode)[keyof typeof EdgeErrorCode];

/** Bits of PayloadHeader.EdgeFlags. */
export const EdgeFlag = Object.freeze({
  Fin: 1, // from both: no further data from the sender
  TraceUuid: 2, // from both
  Multipart: 4, // from both: can read multipart messages
  Stream: 8, // from both
  MultipartMessage: 16, // from both
} as const);
export type EdgeFlag = (typeof EdgeFlag)[keyof typeof EdgeFlag];

/** Header keys of a link hello. Keys 1, 4, 5 and 6 mean something else outside of it. */
export const LinkHeader = Object.freeze({
  ConnectionId: 0, // from dialer: string, the same on both halves of a split link
  ChannelType: 1, // from dialer: byte: 1 payload, 2 ack; absent on single and grouped links
  RouterId: 2, // from dialer: string
  RouterVersion: 3, // from dialer: string
  DialerBinding: 4, // from dialer: string
  Iteration: 5, // from dialer: uint32
  DialedRouterId: 6, // from dialer: string
  LinkId: 100, // from dialer: string
} as const);
export type LinkHeader = (typeof LinkHeader)[keyof typeof LinkHeader];

/** Header keys of the management channel, a websocket of the fabric API. */
export const ManagementHeader = Object.freeze({
  EventType: 10, // from controller: string, the namespace of an event
} as const);
export type ManagementHeader = (typeof ManagementHeader)[keyof typeof ManagementHeader];

/** Content types of the management channel. */
export const ManagementType = Object.freeze({
  StreamEvents: 10040, // from client: JSON: format and subscriptions; answered by a Result
  Event: 10041, // from controller: JSON, its namespace in EventType
  Inspect: 10048, // from client: answered by InspectResponse
  InspectResponse: 10049, // from controller
  ValidateTerminators: 10100, // from client: answered by its response, then one result for each terminator
  ValidateTerminatorsResponse: 10101, // from controller
  ValidateTerminatorsResult: 10102, // from controller
  ValidateRouterLinks: 10103, // from client: answered by its response, then one result for each router
  ValidateRouterLinksResponse: 10104, // from controller
  ValidateRouterLinksResult: 10105, // from controller
  ValidateRouterSdkTerminators: 10106, // from client
  ValidateRouterSdkTerminatorsResponse: 10107, // from controller
  ValidateRouterSdkTerminatorsResult: 10108, // from controller
  ValidateRouterDataModel: 10109, // from client
  ValidateRouterDataModelResponse: 10110, // from controller
  ValidateRouterDataModelResult: 10111, // from controller
  ValidateIdentityConnectionStatuses: 10112, // from client
  ValidateIdentityConnectionStatusesResponse: 10113, // from controller
  ValidateIdentityConnectionStatusesResult: 10114, // from controller
  ValidateRouterErtTerminators: 10115, // from client
  ValidateRouterErtTerminatorsResponse: 10116, // from controller
  ValidateRouterErtTerminatorsResult: 10117, // from controller
  ValidateCircuits: 10118, // from client
  ValidateCircuitsResponse: 10119, // from controller
  ValidateCircuitsResult: 10120, // from controller
  ValidateTerminatorsHostResult: 10121, // from controller: an identity with an unexpected number of terminators
  ValidateControllerDialers: 10122, // from client
  ValidateControllerDialersResponse: 10123, // from controller
  ValidateControllerDialersResult: 10124, // from controller
} as const);
export type ManagementType = (typeof ManagementType)[keyof typeof ManagementType];

/** Bits of XgressHeader.Flags. */
export const PayloadFlag = Object.freeze({
  CircuitEnd: 1, // from both: the sender closes the circuit
  Originator: 2, // from both: set by the terminator side
  CircuitStart: 4, // from initiator: first payload
  Chunk: 8, // from both: part of a chunked message
  Retransmit: 16, // from both
  Eof: 32, // from both: half close: no further data from this side
  WriteFailed: 64, // from both: the receiver accepts no further data
} as const);
export type PayloadFlag = (typeof PayloadFlag)[keyof typeof PayloadFlag];

/** Payload headers that are in use. */
export const PayloadHeader = Object.freeze({
  TraceUuid: 0, // from both: 16 bytes
  Capabilities: 1, // from both: 4 bytes, big endian
  EdgeFlags: 16, // from both: uint32, little endian
} as const);
export type PayloadHeader = (typeof PayloadHeader)[keyof typeof PayloadHeader];

/** Keys of the peer data that the two ends of a circuit exchange through the controller. */
export const PeerDataKey = Object.freeze({
  PublicKey: 1003, // from both: 32 bytes, end-to-end encryption
  CallerId: 1008, // from initiator: string
  AppData: 1011, // from initiator: bytes, JSON of tunnelers
  ConnectionMarker: 1025, // from initiator: string
  TerminatorLocalAddress: 1110, // from terminator: string
  TerminatorRemoteAddress: 1111, // from terminator: string
  InitiatorLocalAddress: 1112, // from initiator: string
  InitiatorRemoteAddress: 1113, // from initiator: string
  StickinessToken: 1114, // from both: bytes
  DialerIdentityId: 1115, // from initiator: string
  DialerIdentityName: 1116, // from initiator: string
  LargestPayload: 61000, // from both: uint32, bytes; between routers of this project
} as const);
export type PeerDataKey = (typeof PeerDataKey)[keyof typeof PeerDataKey];

/** Header keys of Result messages. */
export const ResultHeader = Object.freeze({
  ErrorCode: 10, // from both: uint32: 1 = server too busy
} as const);
export type ResultHeader = (typeof ResultHeader)[keyof typeof ResultHeader];

/** EdgeControlHeader.RetryHint: what the asking side should do. */
export const RetryHint = Object.freeze({
  Default: 0,
  TooBusy: 1,
  StartOver: 2,
  NotRetriable: 3,
} as const);
export type RetryHint = (typeof RetryHint)[keyof typeof RetryHint];

/** RouteHeader.ErrorCode: why an egress could not be set up. */
export const RouteErrorCode = Object.freeze({
  Generic: 0,
  InvalidTerminator: 1,
  MisconfiguredTerminator: 2,
  DialTimedOut: 3,
  ConnectionRefused: 4,
  RejectedByApplication: 5,
  DnsResolutionFailed: 6,
  PortNotAllowed: 7,
  InvalidLinkDestination: 8,
  ResourcesNotAvailable: 9,
} as const);
export type RouteErrorCode = (typeof RouteErrorCode)[keyof typeof RouteErrorCode];

/** Header keys of CircuitSuccess and RouteResult. */
export const RouteHeader = Object.freeze({
  IngressAddress: 1100, // from controller: string
  Attempt: 1101, // from router: uint32
  Success: 1102, // from router: bool, present only on success
  Error: 1103, // from router: string
  ErrorCode: 1104, // from router: one byte
} as const);
export type RouteHeader = (typeof RouteHeader)[keyof typeof RouteHeader];

/** Bits of ControlHeader.Capabilities as sent by a router. */
export const RouterCapability = Object.freeze({
  MultiChannel: 1, // new header keys and grouped channels
  ConnectV2: 2,
  ServiceSubscriptions: 4,
  PostureChecks: 5,
  BindSuccess: 6,
  RoutesInOrder: 48, // own: handles a route without egress before later messages of the same lane
  RouterDataModel: 62,
} as const);
export type RouterCapability = (typeof RouterCapability)[keyof typeof RouterCapability];

/** Header keys of circuit traffic. 2000 to 2255 are payload headers 0 to 255. */
export const XgressHeader = Object.freeze({
  HopCount: 20, // from both: control: uint32
  HopType: 21, // from both: control: string
  HopId: 22, // from both: control: string
  Timestamp: 23, // from both: control: uint64, milliseconds
  UserValue: 24, // from both: control: uint32
  Error: 25, // from both: control: string
  PayloadHeaderFirst: 2000, // from both
  PayloadHeaderLast: 2255, // from both
  CircuitId: 2256, // from both: string
  Sequence: 2257, // from both: uint64
  Flags: 2258, // from both: uint32, omitted if 0
  ReceiveBufferSize: 2259, // from both: uint32, acknowledgements only
  RoundTripTime: 2260, // from both: uint16, low bits of the clock in milliseconds
} as const);
export type XgressHeader = (typeof XgressHeader)[keyof typeof XgressHeader];

/** Content types of circuit traffic on links and SDK channels. */
export const XgressType = Object.freeze({
  Payload: 1100, // from both
  Acknowledgement: 1101, // from both
  Control: 1102, // from both
  Close: 1103, // from SDK: body = circuit id
} as const);
export type XgressType = (typeof XgressType)[keyof typeof XgressType];

/** Header keys between router and SDK client. */
export const SdkHeader = Object.freeze({
  ConnectionId: 1000, // from both: uint32; 0 is a valid id
  Sequence: 1001, // from both: uint32, informational
  SessionToken: 1002, // from client: string, in the hello
  PublicKey: 1003, // from both: 32 bytes
  Cost: 1004, // from client: uint16; four bytes from clients of 2022
  Precedence: 1005, // from client: byte: 0 default, 1 required, 2 failed; four bytes from clients of 2022
  TerminatorInstanceId: 1006, // from client: string
  TerminatorInstanceSecret: 1007, // from client: bytes
  CallerId: 1008, // from both: string
  CryptoMethod: 1009, // from client: ends at the router
  Flags: 1010, // from both: uint32: EdgeFlag
  AppData: 1011, // from both: bytes
  RouterProvidedConnectionId: 1012, // from both: bool from the client and in StateConnected, uint32 in Dial
  HealthStatus: 1013, // from client: bool
  ErrorCode: 1014, // from router: uint32: EdgeErrorCode
  TraceTimestamp: 1015, // from both: uint64
  TraceHopCount: 1016, // from both: uint32
  TraceHopType: 1017, // from both: string
  TraceHopId: 1018, // from both: string
  TraceSourceRequestId: 1019, // from both: uint32
  TraceError: 1020, // from both: string
  ListenerId: 1021, // from client: string
  ConnectionType: 1022, // from client: byte: 0 invalid, 1 dial, 2 bind, 3 unknown
  SupportsInspect: 1023, // from client: bool
  SupportsBindSuccess: 1024, // from both: bool
  ConnectionMarker: 1025, // from both: string
  CircuitId: 1026, // from router: string
  StickinessToken: 1027, // from both: bytes
  UseXgressToSdk: 1028, // from both: bool
  XgressControllerId: 1029, // from router: string
  XgressAddress: 1030, // from router: string
  InspectRequestedValues: 1031, // from router: list of strings
  SupportsPostureChecks: 1032, // from router: bool
  StructuredError: 1033, // from router: string, JSON
  DialerIdentityId: 1034, // from router: string
  DialerIdentityName: 1035, // from router: string
  ServiceIdentifier: 1036, // from client: string: id or name
  ServiceIdentifierType: 1037, // from client: byte: 0 id, 1 name
  RouterCapabilities: 1039, // from router: big endian bit mask: RouterCapability
} as const);
export type SdkHeader = (typeof SdkHeader)[keyof typeof SdkHeader];

/** Content types between router and SDK client. Those of circuit traffic with SDK flow control are XgressType. */
export const SdkType = Object.freeze({
  Connect: 60783, // from client: dial with a token of a service session
  StateConnected: 60784, // from router
  StateClosed: 60785, // from both: body: reason
  Data: 60786, // from both
  Dial: 60787, // from router: to a hosting client
  DialSuccess: 60788, // from client: body: uint32 of a connection id, or empty
  DialFailed: 60789, // from client: body: reason
  Bind: 60790, // from client
  Unbind: 60791, // from client
  UpdateBind: 60794, // from client
  HealthEvent: 60795, // from client
  TraceRoute: 60796, // from both
  TraceRouteResponse: 60797, // from both
  ConnectionInspect: 60798, // from router
  ConnectionInspectResponse: 60799, // from client: body: text
  BindSuccess: 60800, // from router
  UpdateTokenSuccess: 60801, // from router
  UpdateTokenFailure: 60802, // from router
  UpdateToken: 60803, // from client: body: token
  Inspect: 60804, // from router
  InspectResponse: 60805, // from client: body: JSON
  ConnectV2: 60806, // from client: dial with the API session alone
  PostureResponses: 10800, // from client: protobuf
  Subscribe: 10900, // from client: protobuf
  Unsubscribe: 10901, // from client
  ResyncPosture: 10902, // from client
  ServiceChangeSet: 10903, // from router: protobuf
  PostureStateChange: 10904, // from router: protobuf
} as const);
export type SdkType = (typeof SdkType)[keyof typeof SdkType];
