// Generated from schemas/lab by `npm run generate`. DO NOT EDIT.

package edgeweave

import "net/url"

// Clock is a part of bodies or answers of the lab.
type Clock struct {
	Now string `json:"now"`
	// The distance from the real time, such as 31m0s; negative in the past.
	Advanced string `json:"advanced"`
	// How many times as fast as the real time it runs; 0: it stands still.
	Rate float64 `json:"rate"`
}

// FaultAnswer is a part of bodies or answers of the lab.
type FaultAnswer struct {
	// 200 to 599: the answer in place of the operation.
	Status *int `json:"status,omitempty"`
	// An error code of the APIs, such as NOT_FOUND.
	Code string `json:"code,omitempty"`
	// The body of the answer: a text as it is, anything else as JSON.
	Body any `json:"body,omitempty"`
	// Headers of the answer, such as Retry-After.
	Headers map[string]string `json:"headers,omitempty"`
	// The connection closes without an answer.
	Close *bool `json:"close,omitempty"`
	// The connection closes after half of the answer.
	Truncate *bool `json:"truncate,omitempty"`
	// A duration, such as 500ms, before the request, the message or the change is handled.
	Delay string `json:"delay,omitempty"`
}

// Fault is a part of bodies or answers of the lab.
type Fault struct {
	ID string `json:"id"`
	// How many requests, messages, connections or changes it has affected.
	Hits int `json:"hits"`
	// Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. One of http, control, link, sdk, proxy, store.
	Kind string `json:"kind"`
	// The method of the request.
	Method string `json:"method,omitempty"`
	// The beginning of the path; with * for any characters, the whole path.
	Path string `json:"path,omitempty"`
	// The id of an operation, such as listServices.
	Operation string `json:"operation,omitempty"`
	// Id or name of the caller.
	Identity string `json:"identity,omitempty"`
	// 200 to 599: the answer in place of the operation.
	Status *int `json:"status,omitempty"`
	// An error code of the APIs, such as NOT_FOUND.
	Code string `json:"code,omitempty"`
	// The body of the answer: a text as it is, anything else as JSON.
	Body any `json:"body,omitempty"`
	// Headers of the answer, such as Retry-After.
	Headers map[string]string `json:"headers,omitempty"`
	// The connection closes without an answer.
	Close *bool `json:"close,omitempty"`
	// The connection closes after half of the answer.
	Truncate *bool `json:"truncate,omitempty"`
	// A duration, such as 500ms, before the request, the message or the change is handled.
	Delay string `json:"delay,omitempty"`
	// One answer for each request, in this order; afterwards requests are handled as usual.
	Answers []FaultAnswer `json:"answers,omitempty"`
	// Id or name of the router: of control channels, links or SDK connections.
	Router string `json:"router,omitempty"`
	// Name of the router at the other end of the link.
	Peer string `json:"peer,omitempty"`
	// Name of a proxy.
	Proxy string `json:"proxy,omitempty"`
	// The name of a content type, such as Route.
	Message string `json:"message,omitempty"`
	// Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down.
	Direction string `json:"direction,omitempty"`
	// The message is lost.
	Drop *bool `json:"drop,omitempty"`
	// The message arrives twice.
	Duplicate *bool `json:"duplicate,omitempty"`
	// The message arrives after the next one.
	Reorder *bool `json:"reorder,omitempty"`
	// New control channels are rejected.
	Reject *bool `json:"reject,omitempty"`
	// A duration that bytes travel longer.
	Latency string `json:"latency,omitempty"`
	// A duration that is added to the latency or taken from it, at random.
	Jitter string `json:"jitter,omitempty"`
	// Bytes per second.
	Bandwidth *int `json:"bandwidth,omitempty"`
	// Bytes of the pieces in which everything is written.
	Slice *int `json:"slice,omitempty"`
	// The duration between two pieces; default 10ms.
	SliceDelay string `json:"sliceDelay,omitempty"`
	// The connection is closed after so many bytes.
	Limit *int `json:"limit,omitempty"`
	// A duration by which the end of a direction arrives later.
	CloseDelay string `json:"closeDelay,omitempty"`
	// Bytes wait until the fault ends.
	Stall *bool `json:"stall,omitempty"`
	// The far side is gone, and the near one does not learn of it.
	HalfOpen *bool `json:"halfOpen,omitempty"`
	// Connections are reset, new ones too.
	Cut *bool `json:"cut,omitempty"`
	// The store rejects changes.
	Fail *bool `json:"fail,omitempty"`
	// The store rejects changes, as with a full disk.
	Full *bool `json:"full,omitempty"`
	// How many requests, messages, connections or changes it affects; default: all.
	Times *int `json:"times,omitempty"`
	// 0 to 1: the share of the matching ones that it affects; default 1.
	Probability *float64 `json:"probability,omitempty"`
	// A duration, after which it affects nothing.
	Lasts string `json:"lasts,omitempty"`
	// A name that several faults share, such as that of a test; they can be removed together.
	Scope string `json:"scope,omitempty"`
}

// CreateFaultAnswer is a part of bodies or answers of the lab.
type CreateFaultAnswer struct {
	// 200 to 599: the answer in place of the operation.
	Status *int `json:"status,omitempty"`
	// An error code of the APIs, such as NOT_FOUND.
	Code string `json:"code,omitempty"`
	// The body of the answer: a text as it is, anything else as JSON.
	Body any `json:"body,omitempty"`
	// Headers of the answer, such as Retry-After.
	Headers map[string]string `json:"headers,omitempty"`
	// The connection closes without an answer.
	Close *bool `json:"close,omitempty"`
	// The connection closes after half of the answer.
	Truncate *bool `json:"truncate,omitempty"`
	// A duration, such as 500ms, before the request, the message or the change is handled.
	Delay string `json:"delay,omitempty"`
}

// JournalState is a part of bodies or answers of the lab.
type JournalState struct {
	// Whether it records the messages of links.
	Links bool `json:"links"`
}

// JournalEntryIdentity is a part of bodies or answers of the lab.
type JournalEntryIdentity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// JournalEntryRouter is a part of bodies or answers of the lab.
type JournalEntryRouter struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// JournalEntryPeer is a part of bodies or answers of the lab.
type JournalEntryPeer struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// JournalEntry is a part of bodies or answers of the lab.
type JournalEntry struct {
	// One of http, control, link.
	Kind string `json:"kind"`
	// Increases by one with each entry; the parameter `after` excludes earlier ones.
	Sequence  int    `json:"sequence"`
	Time      string `json:"time"`
	Method    string `json:"method,omitempty"`
	Path      string `json:"path,omitempty"`
	Query     string `json:"query,omitempty"`
	Api       string `json:"api,omitempty"`
	Operation string `json:"operation,omitempty"`
	// Null if the client got no answer.
	Status *int `json:"status,omitempty"`
	// The code of the error.
	Code string `json:"code,omitempty"`
	// Why a request or a router was rejected, or why a connection ended.
	Reason string `json:"reason,omitempty"`
	// Milliseconds until the answer.
	Duration *float64 `json:"duration,omitempty"`
	// The address of the client.
	Source   string                `json:"source,omitempty"`
	Identity *JournalEntryIdentity `json:"identity,omitempty"`
	// Size of the answer, or of the body of a message.
	Bytes *int `json:"bytes,omitempty"`
	// JSON of the request without secrets, cut after 4,096 characters.
	Body string `json:"body,omitempty"`
	// Headers of the request without secrets; most have only their names.
	Headers map[string]string `json:"headers,omitempty"`
	// JSON of a successful answer without secrets, if it has at most 4,096 bytes.
	Answer string `json:"answer,omitempty"`
	// Headers of the answer without secrets.
	AnswerHeaders map[string]string `json:"answerHeaders,omitempty"`
	// One of connected, disconnected, rejected, message.
	Event  string              `json:"event,omitempty"`
	Router *JournalEntryRouter `json:"router,omitempty"`
	// One of in, out.
	Direction string `json:"direction,omitempty"`
	// The router at the other end of a link.
	Peer *JournalEntryPeer `json:"peer,omitempty"`
	// The id of the link of a message.
	Link string `json:"link,omitempty"`
	// The name of the content type.
	Message string `json:"message,omitempty"`
	// The fields of a message of at most 8,192 bytes, without secrets; never the data of a payload.
	Content any `json:"content,omitempty"`
	// The id of the fault that was applied.
	Fault string `json:"fault,omitempty"`
}

// Recording is a part of bodies or answers of the lab.
type Recording struct {
	// Requests in it.
	Requests int `json:"requests"`
	// Requests that it lacks: without an answer, or larger than the journal keeps.
	Omitted int `json:"omitted"`
	// For a file that `sim replay` answers from.
	Text string `json:"text"`
}

// Waited is a part of bodies or answers of the lab.
type Waited struct {
	// Missing if none came in time.
	Entry *JournalEntry `json:"entry,omitempty"`
	// Why it does not hold, with the nearest entries.
	Message string `json:"message,omitempty"`
}

// Verified is a part of bodies or answers of the lab.
type Verified struct {
	Verified bool `json:"verified"`
	// How many entries meet the filter.
	Count int `json:"count"`
	// Why it does not hold, with the nearest entries.
	Message string `json:"message,omitempty"`
}

// IdentityFileId is a part of bodies or answers of the lab.
type IdentityFileId struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
	Ca   string `json:"ca"`
}

// IdentityFile is a part of bodies or answers of the lab.
type IdentityFile struct {
	// Address of the client API.
	ZtAPI  string         `json:"ztAPI"`
	ZtAPIs []string       `json:"ztAPIs"`
	ID     IdentityFileId `json:"id"`
}

// DialPlace is a part of bodies or answers of the lab.
type DialPlace struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

// Service is a part of bodies or answers of the lab.
type Service struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Name of the router that hosts it.
	Host string     `json:"host"`
	Dial *DialPlace `json:"dial,omitempty"`
}

// Token is a part of bodies or answers of the lab.
type Token struct {
	Token string `json:"token"`
}

// Controller is a part of bodies or answers of the lab.
type Controller struct {
	ID             string `json:"id"`
	URL            string `json:"url"`
	ControlAddress string `json:"controlAddress"`
	Connected      bool   `json:"connected"`
	Leader         bool   `json:"leader"`
	// Its last start.
	StartedAt string `json:"startedAt"`
	// Index of the last change that it has.
	Index int `json:"index"`
	// How many changes it lacks.
	Behind int `json:"behind"`
	// Why it does not follow the changes of others; missing if it does.
	Problem string `json:"problem,omitempty"`
}

// Router is a part of bodies or answers of the lab.
type Router struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Online bool   `json:"online"`
	// One of edge, transit.
	Type     string `json:"type"`
	Disabled bool   `json:"disabled"`
	Cost     int    `json:"cost"`
	// Missing while it is offline.
	Version string `json:"version,omitempty"`
	// How many identities are connected to it.
	Identities int `json:"identities"`
}

// Link is a part of bodies or answers of the lab.
type Link struct {
	ID string `json:"id"`
	// Id of the dialing router.
	Source      string `json:"source"`
	Destination string `json:"destination"`
	// disabled by an administrator; disconnected: one of its routers is offline. One of up, disabled, disconnected.
	State string `json:"state"`
	Cost  int    `json:"cost"`
	// Milliseconds, the mean of both ends; missing until both have measured it.
	Latency *float64 `json:"latency,omitempty"`
}

// Circuit is a part of bodies or answers of the lab.
type Circuit struct {
	ID string `json:"id"`
	// Name; the id if it no longer exists.
	Service string `json:"service"`
	// Name of the dialing identity; the id if it no longer exists.
	Client string `json:"client"`
	// Ids of routers, from the client to the host.
	Path []string `json:"path"`
	// Milliseconds.
	Age int `json:"age"`
	// Bytes per second in both directions: since the last reading if the router of the client runs beside the simulator, else from its latest usage report (metrics.reportInterval); missing until it is known.
	Rate *int `json:"rate,omitempty"`
}

// TopologyTotals is a part of bodies or answers of the lab.
type TopologyTotals struct {
	Routers  int `json:"routers"`
	Online   int `json:"online"`
	Links    int `json:"links"`
	Circuits int `json:"circuits"`
}

// TopologyJournal is a part of bodies or answers of the lab.
type TopologyJournal struct {
	Entries int `json:"entries"`
	// Sequence number of the latest entry.
	Last int `json:"last"`
	// Whether it records the messages of links; missing without routers in the process.
	Links *bool `json:"links,omitempty"`
}

// Topology is a part of bodies or answers of the lab.
type Topology struct {
	Controllers []Controller `json:"controllers"`
	// Online ones first; at most 1,000.
	Routers []Router `json:"routers"`
	// At most 5,000.
	Links []Link `json:"links"`
	// The newest first; at most 500.
	Circuits []Circuit      `json:"circuits"`
	Totals   TopologyTotals `json:"totals"`
	// How many, by kind.
	Entities map[string]int  `json:"entities"`
	Journal  TopologyJournal `json:"journal"`
}

// Proxy is a part of bodies or answers of the lab.
type Proxy struct {
	Name string `json:"name"`
	Host string `json:"host"`
	// Where it listens.
	Port int `json:"port"`
	// The host:port to which its connections lead; empty until the router has told its address.
	To string `json:"to"`
	// Open connections.
	Connections int `json:"connections"`
}

// Snapshot is a part of bodies or answers of the lab.
type Snapshot struct {
	Name     string `json:"name"`
	TakenAt  string `json:"takenAt"`
	Index    int    `json:"index"`
	Entities int    `json:"entities"`
	// The controller that keeps it in memory.
	ControllerId string `json:"controllerId"`
}

// SnapshotFileClock is a part of bodies or answers of the lab.
type SnapshotFileClock struct {
	Rate float64 `json:"rate"`
	// Milliseconds that were added to the real time.
	Advanced float64 `json:"advanced"`
	// Milliseconds since the epoch.
	Now float64 `json:"now"`
}

// SnapshotFile is a part of bodies or answers of the lab.
type SnapshotFile struct {
	// One of edgeweave-snapshot/1.
	Format  string `json:"format"`
	Name    string `json:"name"`
	TakenAt string `json:"takenAt"`
	// Whether it has passwords, certificates, second factors and one-time tokens.
	Credentials bool              `json:"credentials"`
	Clock       SnapshotFileClock `json:"clock"`
	// By kind.
	Entities any `json:"entities"`
}

// Restored is a part of bodies or answers of the lab.
type Restored struct {
	Created int `json:"created"`
	Changed int `json:"changed"`
	Deleted int `json:"deleted"`
}

// SeededDifferent is a part of bodies or answers of the lab.
type SeededDifferent struct {
	// Such as service policy.
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
}

// SeededStep is a part of bodies or answers of the lab.
type SeededStep struct {
	// One of create, change, delete.
	Action string `json:"action"`
	// Such as service policy.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// The fields that change.
	Fields []string `json:"fields,omitempty"`
}

// Seeded is a part of bodies or answers of the lab.
type Seeded struct {
	// How many, by section.
	Created map[string]int `json:"created"`
	// How many, by section.
	Existing map[string]int `json:"existing"`
	// Without apply: the first 20 entities that exist with other values than the document.
	Different []SeededDifferent `json:"different,omitempty"`
	// How many, by section; only with apply.
	Changed map[string]int `json:"changed,omitempty"`
	// How many, by section; only with prune.
	Deleted map[string]int `json:"deleted,omitempty"`
	// The first 1,000 changes, in their order; only with plan.
	Steps []SeededStep `json:"steps,omitempty"`
}

// Right is a part of bodies or answers of the lab.
type Right struct {
	Identity string `json:"identity"`
	Service  string `json:"service"`
	// One of Dial, Bind.
	Type string `json:"type"`
}

// WhatIfTotals is a part of bodies or answers of the lab.
type WhatIfTotals struct {
	Gained int `json:"gained"`
	Lost   int `json:"lost"`
}

// WhatIf is a part of bodies or answers of the lab.
type WhatIf struct {
	// The first 1,000 new rights.
	Gained []Right `json:"gained"`
	// The first 1,000 lost rights.
	Lost   []Right      `json:"lost"`
	Totals WhatIfTotals `json:"totals"`
	Seeded Seeded       `json:"seeded"`
}

// WhyIdentity is a part of bodies or answers of the lab.
type WhyIdentity struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// WhyService is a part of bodies or answers of the lab.
type WhyService struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// WhyFinding is a part of bodies or answers of the lab.
type WhyFinding struct {
	Ok bool `json:"ok"`
	// Access is denied because of it.
	Blocking *bool  `json:"blocking,omitempty"`
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	Message  string `json:"message"`
	Remedy   string `json:"remedy,omitempty"`
	// A seed that does so, for `seed` with `apply`; missing where a seed cannot.
	Repair map[string][]any `json:"repair,omitempty"`
}

// Why is a part of bodies or answers of the lab.
type Why struct {
	Allowed  bool        `json:"allowed"`
	Identity WhyIdentity `json:"identity"`
	Service  WhyService  `json:"service"`
	// One of Dial, Bind.
	Type    string       `json:"type"`
	Reasons []WhyFinding `json:"reasons"`
}

// Explanation is a part of bodies or answers of the lab.
type Explanation struct {
	// No reason blocks.
	Ok      bool         `json:"ok"`
	Summary string       `json:"summary"`
	Reasons []WhyFinding `json:"reasons"`
}

// RejoinMember sends POST /lab/v1/cluster/members/{id}/rejoin.
func (lab *Lab) RejoinMember(id string) error {
	_, err := lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/rejoin", nil, nil)
	return err
}

// PartitionMember sends POST /lab/v1/cluster/members/{id}/partition.
func (lab *Lab) PartitionMember(id string) error {
	_, err := lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/partition", nil, nil)
	return err
}

// HealMember sends POST /lab/v1/cluster/members/{id}/heal.
func (lab *Lab) HealMember(id string) error {
	_, err := lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/heal", nil, nil)
	return err
}

// PauseMemberBody is the body of Lab.PauseMember.
type PauseMemberBody struct {
	Duration string `json:"duration,omitempty"`
}

// PauseMember sends POST /lab/v1/cluster/members/{id}/pause.
func (lab *Lab) PauseMember(id string, body PauseMemberBody) error {
	_, err := lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/pause", body, nil)
	return err
}

// KillMember sends POST /lab/v1/cluster/members/{id}/kill.
func (lab *Lab) KillMember(id string) error {
	_, err := lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/kill", nil, nil)
	return err
}

// DetailClock sends GET /lab/v1/clock.
func (lab *Lab) DetailClock() (Clock, error) {
	return decoded[Clock](lab.call("GET", "/clock", nil, nil))
}

// PatchClockBody is the body of Lab.PatchClock.
type PatchClockBody struct {
	// The new time, such as 2027-01-31T12:00:00Z.
	Time string `json:"time,omitempty"`
	// How many times as fast as the real time it runs; 0: it stands still.
	Rate *float64 `json:"rate,omitempty"`
}

// PatchClock sends PATCH /lab/v1/clock.
func (lab *Lab) PatchClock(body PatchClockBody) (Clock, error) {
	return decoded[Clock](lab.call("PATCH", "/clock", body, nil))
}

// AdvanceClockBody is the body of Lab.AdvanceClock.
type AdvanceClockBody struct {
	Duration string `json:"duration"`
}

// AdvanceClock sends POST /lab/v1/clock/advance.
func (lab *Lab) AdvanceClock(body AdvanceClockBody) (Clock, error) {
	return decoded[Clock](lab.call("POST", "/clock/advance", body, nil))
}

// ClearFaultsQuery is the query of Lab.ClearFaults.
type ClearFaultsQuery struct {
	Scope string `json:"scope,omitempty"`
}

// ClearFaults sends DELETE /lab/v1/faults.
func (lab *Lab) ClearFaults(query ClearFaultsQuery) error {
	_, err := lab.call("DELETE", "/faults", nil, query)
	return err
}

// ListFaults sends GET /lab/v1/faults.
func (lab *Lab) ListFaults() ([]Fault, error) {
	return decoded[[]Fault](lab.call("GET", "/faults", nil, nil))
}

// CreateFaultBody is the body of Lab.CreateFault.
type CreateFaultBody struct {
	// Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. One of http, control, link, sdk, proxy, store.
	Kind string `json:"kind"`
	// The method of the request.
	Method string `json:"method,omitempty"`
	// The beginning of the path; with * for any characters, the whole path.
	Path string `json:"path,omitempty"`
	// The id of an operation, such as listServices.
	Operation string `json:"operation,omitempty"`
	// Id or name of the caller.
	Identity string `json:"identity,omitempty"`
	// 200 to 599: the answer in place of the operation.
	Status *int `json:"status,omitempty"`
	// An error code of the APIs, such as NOT_FOUND.
	Code string `json:"code,omitempty"`
	// The body of the answer: a text as it is, anything else as JSON.
	Body any `json:"body,omitempty"`
	// Headers of the answer, such as Retry-After.
	Headers map[string]string `json:"headers,omitempty"`
	// The connection closes without an answer.
	Close *bool `json:"close,omitempty"`
	// The connection closes after half of the answer.
	Truncate *bool `json:"truncate,omitempty"`
	// A duration, such as 500ms, before the request, the message or the change is handled.
	Delay string `json:"delay,omitempty"`
	// One answer for each request, in this order; afterwards requests are handled as usual.
	Answers []CreateFaultAnswer `json:"answers,omitempty"`
	// Id or name of the router: of control channels, links or SDK connections.
	Router string `json:"router,omitempty"`
	// Name of the router at the other end of the link.
	Peer string `json:"peer,omitempty"`
	// Name of a proxy.
	Proxy string `json:"proxy,omitempty"`
	// The name of a content type, such as Route.
	Message string `json:"message,omitempty"`
	// Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down.
	Direction string `json:"direction,omitempty"`
	// The message is lost.
	Drop *bool `json:"drop,omitempty"`
	// The message arrives twice.
	Duplicate *bool `json:"duplicate,omitempty"`
	// The message arrives after the next one.
	Reorder *bool `json:"reorder,omitempty"`
	// New control channels are rejected.
	Reject *bool `json:"reject,omitempty"`
	// A duration that bytes travel longer.
	Latency string `json:"latency,omitempty"`
	// A duration that is added to the latency or taken from it, at random.
	Jitter string `json:"jitter,omitempty"`
	// Bytes per second.
	Bandwidth *int `json:"bandwidth,omitempty"`
	// Bytes of the pieces in which everything is written.
	Slice *int `json:"slice,omitempty"`
	// The duration between two pieces; default 10ms.
	SliceDelay string `json:"sliceDelay,omitempty"`
	// The connection is closed after so many bytes.
	Limit *int `json:"limit,omitempty"`
	// A duration by which the end of a direction arrives later.
	CloseDelay string `json:"closeDelay,omitempty"`
	// Bytes wait until the fault ends.
	Stall *bool `json:"stall,omitempty"`
	// The far side is gone, and the near one does not learn of it.
	HalfOpen *bool `json:"halfOpen,omitempty"`
	// Connections are reset, new ones too.
	Cut *bool `json:"cut,omitempty"`
	// The store rejects changes.
	Fail *bool `json:"fail,omitempty"`
	// The store rejects changes, as with a full disk.
	Full *bool `json:"full,omitempty"`
	// How many requests, messages, connections or changes it affects; default: all.
	Times *int `json:"times,omitempty"`
	// 0 to 1: the share of the matching ones that it affects; default 1.
	Probability *float64 `json:"probability,omitempty"`
	// A duration, after which it affects nothing.
	Lasts string `json:"lasts,omitempty"`
	// A name that several faults share, such as that of a test; they can be removed together.
	Scope string `json:"scope,omitempty"`
}

// CreateFault sends POST /lab/v1/faults.
func (lab *Lab) CreateFault(body CreateFaultBody) (Fault, error) {
	return decoded[Fault](lab.call("POST", "/faults", body, nil))
}

// DeleteFault sends DELETE /lab/v1/faults/{id}.
func (lab *Lab) DeleteFault(id string) error {
	_, err := lab.call("DELETE", "/faults/"+url.PathEscape(id), nil, nil)
	return err
}

// ClearJournal sends DELETE /lab/v1/journal.
func (lab *Lab) ClearJournal() error {
	_, err := lab.call("DELETE", "/journal", nil, nil)
	return err
}

// PatchJournalBody is the body of Lab.PatchJournal.
type PatchJournalBody struct {
	// Whether to record the messages of the links between routers in the process of the simulator.
	Links bool `json:"links"`
}

// PatchJournal sends PATCH /lab/v1/journal.
func (lab *Lab) PatchJournal(body PatchJournalBody) (JournalState, error) {
	return decoded[JournalState](lab.call("PATCH", "/journal", body, nil))
}

// ListJournalQuery is the query of Lab.ListJournal.
type ListJournalQuery struct {
	Limit     *int   `json:"limit,omitempty"`
	After     *int   `json:"after,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Router    string `json:"router,omitempty"`
	Message   string `json:"message,omitempty"`
	Path      string `json:"path,omitempty"`
	Operation string `json:"operation,omitempty"`
	Method    string `json:"method,omitempty"`
	Status    *int   `json:"status,omitempty"`
	Fault     string `json:"fault,omitempty"`
	Failed    *bool  `json:"failed,omitempty"`
}

// ListJournal sends GET /lab/v1/journal.
func (lab *Lab) ListJournal(query ListJournalQuery) ([]JournalEntry, error) {
	return decoded[[]JournalEntry](lab.call("GET", "/journal", nil, query))
}

// RecordJournalQuery is the query of Lab.RecordJournal.
type RecordJournalQuery struct {
	After     *int   `json:"after,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Path      string `json:"path,omitempty"`
	Operation string `json:"operation,omitempty"`
	Method    string `json:"method,omitempty"`
	Status    *int   `json:"status,omitempty"`
	Fault     string `json:"fault,omitempty"`
	Failed    *bool  `json:"failed,omitempty"`
}

// RecordJournal sends GET /lab/v1/journal/recording.
func (lab *Lab) RecordJournal(query RecordJournalQuery) (Recording, error) {
	return decoded[Recording](lab.call("GET", "/journal/recording", nil, query))
}

// WaitForEntryBody is the body of Lab.WaitForEntry.
type WaitForEntryBody struct {
	// One of http, control, link.
	Kind string `json:"kind,omitempty"`
	// Id or name of the caller.
	Identity string `json:"identity,omitempty"`
	// Id or name.
	Router string `json:"router,omitempty"`
	// The name of the content type of a message, such as Route.
	Message string `json:"message,omitempty"`
	// The beginning of the path; with * for any characters, the whole path.
	Path string `json:"path,omitempty"`
	// Such as listServices.
	Operation string `json:"operation,omitempty"`
	Method    string `json:"method,omitempty"`
	Status    *int   `json:"status,omitempty"`
	// The id of the fault that was applied.
	Fault string `json:"fault,omitempty"`
	// Only requests with a status of at least 400 or without an answer, and rejected routers.
	Failed *bool `json:"failed,omitempty"`
	// Only later entries than the one with this number.
	After *int `json:"after,omitempty"`
	// A duration, such as 5s; default 10s, at most 50s.
	Timeout string `json:"timeout,omitempty"`
}

// WaitForEntry sends POST /lab/v1/journal/wait.
// The error is a VerificationError, which names the nearest entries, if the answer does not hold.
func (lab *Lab) WaitForEntry(body WaitForEntryBody) (Waited, error) {
	return decoded[Waited](holding("entry")(lab.call("POST", "/journal/wait", body, nil)))
}

// FindEntry sends POST /lab/v1/journal/wait.
// Unlike WaitForEntry, it also returns an answer that does not hold.
func (lab *Lab) FindEntry(body WaitForEntryBody) (Waited, error) {
	return decoded[Waited](lab.call("POST", "/journal/wait", body, nil))
}

// VerifyJournalBody is the body of Lab.VerifyJournal.
type VerifyJournalBody struct {
	// One of http, control, link.
	Kind string `json:"kind,omitempty"`
	// Id or name of the caller.
	Identity string `json:"identity,omitempty"`
	// Id or name.
	Router string `json:"router,omitempty"`
	// The name of the content type of a message, such as Route.
	Message string `json:"message,omitempty"`
	// The beginning of the path; with * for any characters, the whole path.
	Path string `json:"path,omitempty"`
	// Such as listServices.
	Operation string `json:"operation,omitempty"`
	Method    string `json:"method,omitempty"`
	Status    *int   `json:"status,omitempty"`
	// The id of the fault that was applied.
	Fault string `json:"fault,omitempty"`
	// Only requests with a status of at least 400 or without an answer, and rejected routers.
	Failed *bool `json:"failed,omitempty"`
	// Only later entries than the one with this number.
	After *int `json:"after,omitempty"`
	// The exact number of entries; default: at least one.
	Times *int `json:"times,omitempty"`
	// A duration to wait for them, such as 5s.
	Within string `json:"within,omitempty"`
}

// VerifyJournal sends POST /lab/v1/journal/verify.
// The error is a VerificationError, which names the nearest entries, if the answer does not hold.
func (lab *Lab) VerifyJournal(body VerifyJournalBody) (Verified, error) {
	return decoded[Verified](holding("verified")(lab.call("POST", "/journal/verify", body, nil)))
}

// CheckJournal sends POST /lab/v1/journal/verify.
// Unlike VerifyJournal, it also returns an answer that does not hold.
func (lab *Lab) CheckJournal(body VerifyJournalBody) (Verified, error) {
	return decoded[Verified](lab.call("POST", "/journal/verify", body, nil))
}

// EnrollIdentityBody is the body of Lab.EnrollIdentity.
type EnrollIdentityBody struct {
	RoleAttributes []string `json:"roleAttributes,omitempty"`
}

// EnrollIdentity sends POST /lab/v1/identities/{name}/enroll.
func (lab *Lab) EnrollIdentity(name string, body EnrollIdentityBody) (IdentityFile, error) {
	return decoded[IdentityFile](lab.call("POST", "/identities/"+url.PathEscape(name)+"/enroll", body, nil))
}

// CreateServiceBody is the body of Lab.CreateService.
type CreateServiceBody struct {
	Name string `json:"name"`
	// Name or id of the edge router that hosts the service.
	Host string `json:"host"`
	// Port of the server, as the router reaches it.
	Port int `json:"port"`
	// Host of the server, as the router reaches it; default 127.0.0.1.
	Address string `json:"address,omitempty"`
	// Default: true.
	EncryptionRequired *bool `json:"encryptionRequired,omitempty"`
}

// CreateService sends POST /lab/v1/services.
func (lab *Lab) CreateService(body CreateServiceBody) (Service, error) {
	return decoded[Service](lab.call("POST", "/services", body, nil))
}

// DetailToken sends GET /lab/v1/tokens/{name}.
func (lab *Lab) DetailToken(name string) (Token, error) {
	return decoded[Token](lab.call("GET", "/tokens/"+url.PathEscape(name), nil, nil))
}

// DetailNetwork sends GET /lab/v1/network.
func (lab *Lab) DetailNetwork() (Topology, error) {
	return decoded[Topology](lab.call("GET", "/network", nil, nil))
}

// WaitForNetworkBody is the body of Lab.WaitForNetwork.
type WaitForNetworkBody struct {
	// A duration, such as 30s; default 15s, at most 50s.
	Timeout string `json:"timeout,omitempty"`
}

// WaitForNetwork sends POST /lab/v1/network/wait.
func (lab *Lab) WaitForNetwork(body WaitForNetworkBody) error {
	_, err := lab.call("POST", "/network/wait", body, nil)
	return err
}

// ListProxies sends GET /lab/v1/proxies.
func (lab *Lab) ListProxies() ([]Proxy, error) {
	return decoded[[]Proxy](lab.call("GET", "/proxies", nil, nil))
}

// CreateProxyBody is the body of Lab.CreateProxy.
type CreateProxyBody struct {
	// 1 to 100 letters, digits, dots, colons, hyphens and underscores.
	Name string `json:"name"`
	// The host:port to which its connections lead.
	To string `json:"to"`
	// Where it listens; default: a free port.
	Port *int `json:"port,omitempty"`
}

// CreateProxy sends POST /lab/v1/proxies.
func (lab *Lab) CreateProxy(body CreateProxyBody) (Proxy, error) {
	return decoded[Proxy](lab.call("POST", "/proxies", body, nil))
}

// DeleteProxy sends DELETE /lab/v1/proxies/{name}.
func (lab *Lab) DeleteProxy(name string) error {
	_, err := lab.call("DELETE", "/proxies/"+url.PathEscape(name), nil, nil)
	return err
}

// DisconnectRouter sends POST /lab/v1/routers/{id}/disconnect.
func (lab *Lab) DisconnectRouter(id string) error {
	_, err := lab.call("POST", "/routers/"+url.PathEscape(id)+"/disconnect", nil, nil)
	return err
}

// ListSnapshots sends GET /lab/v1/snapshots.
func (lab *Lab) ListSnapshots() ([]Snapshot, error) {
	return decoded[[]Snapshot](lab.call("GET", "/snapshots", nil, nil))
}

// CreateSnapshotBody is the body of Lab.CreateSnapshot.
type CreateSnapshotBody struct {
	Name string `json:"name"`
}

// CreateSnapshot sends POST /lab/v1/snapshots.
func (lab *Lab) CreateSnapshot(body CreateSnapshotBody) (Snapshot, error) {
	return decoded[Snapshot](lab.call("POST", "/snapshots", body, nil))
}

// DeleteSnapshot sends DELETE /lab/v1/snapshots/{name}.
func (lab *Lab) DeleteSnapshot(name string) error {
	_, err := lab.call("DELETE", "/snapshots/"+url.PathEscape(name), nil, nil)
	return err
}

// LoadSnapshotBody is the body of Lab.LoadSnapshot.
type LoadSnapshotBody struct {
	// The name of the snapshot; an earlier one with this name is replaced.
	Name string `json:"name"`
	// The content of the file.
	File any `json:"file"`
	// Take credentials from the file, and identities that become administrators; default false.
	Credentials *bool `json:"credentials,omitempty"`
}

// LoadSnapshot sends POST /lab/v1/snapshots/load.
func (lab *Lab) LoadSnapshot(body LoadSnapshotBody) (Snapshot, error) {
	return decoded[Snapshot](lab.call("POST", "/snapshots/load", body, nil))
}

// SaveSnapshotQuery is the query of Lab.SaveSnapshot.
type SaveSnapshotQuery struct {
	Credentials *bool `json:"credentials,omitempty"`
}

// SaveSnapshot sends GET /lab/v1/snapshots/{name}/file.
func (lab *Lab) SaveSnapshot(name string, query SaveSnapshotQuery) (SnapshotFile, error) {
	return decoded[SnapshotFile](lab.call("GET", "/snapshots/"+url.PathEscape(name)+"/file", nil, query))
}

// RestoreSnapshotBody is the body of Lab.RestoreSnapshot.
type RestoreSnapshotBody struct {
	// Parts that stay as they are.
	Keep []string `json:"keep,omitempty"`
}

// RestoreSnapshot sends POST /lab/v1/snapshots/{name}/restore.
func (lab *Lab) RestoreSnapshot(name string, body RestoreSnapshotBody) (Restored, error) {
	return decoded[Restored](lab.call("POST", "/snapshots/"+url.PathEscape(name)+"/restore", body, nil))
}

// ResetBody is the body of Lab.Reset.
type ResetBody struct {
	// Parts that stay as they are.
	Keep []string `json:"keep,omitempty"`
}

// Reset sends POST /lab/v1/reset.
func (lab *Lab) Reset(body ResetBody) (Restored, error) {
	return decoded[Restored](lab.call("POST", "/reset", body, nil))
}

// SeedQuery is the query of Lab.Seed.
type SeedQuery struct {
	Apply *bool `json:"apply,omitempty"`
	Prune *bool `json:"prune,omitempty"`
	Plan  *bool `json:"plan,omitempty"`
}

// Seed sends POST /lab/v1/seed.
func (lab *Lab) Seed(document any, query SeedQuery) (Seeded, error) {
	return decoded[Seeded](lab.call("POST", "/seed", document, query))
}

// WhatIfQuery is the query of Lab.WhatIf.
type WhatIfQuery struct {
	Prune *bool `json:"prune,omitempty"`
}

// WhatIf sends POST /lab/v1/what-if.
func (lab *Lab) WhatIf(document any, query WhatIfQuery) (WhatIf, error) {
	return decoded[WhatIf](lab.call("POST", "/what-if", document, query))
}

// ExportNetwork sends GET /lab/v1/export.
func (lab *Lab) ExportNetwork() (map[string][]any, error) {
	return decoded[map[string][]any](lab.call("GET", "/export", nil, nil))
}

// WhyBody is the body of Lab.Why.
type WhyBody struct {
	Identity string `json:"identity"`
	Service  string `json:"service"`
	// One of Dial, Bind.
	Type    string `json:"type"`
	Router  string `json:"router,omitempty"`
	Session string `json:"session,omitempty"`
}

// Why sends POST /lab/v1/why.
func (lab *Lab) Why(body WhyBody) (Why, error) {
	return decoded[Why](lab.call("POST", "/why", body, nil))
}

// WhyLoginBody is the body of Lab.WhyLogin.
type WhyLoginBody struct {
	// Its id or name.
	Identity string `json:"identity"`
}

// WhyLogin sends POST /lab/v1/why/login.
func (lab *Lab) WhyLogin(body WhyLoginBody) (Explanation, error) {
	return decoded[Explanation](lab.call("POST", "/why/login", body, nil))
}

// WhySessionBody is the body of Lab.WhySession.
type WhySessionBody struct {
	// The id of an API session, also of one that has ended.
	Session string `json:"session"`
}

// WhySession sends POST /lab/v1/why/session.
func (lab *Lab) WhySession(body WhySessionBody) (Explanation, error) {
	return decoded[Explanation](lab.call("POST", "/why/session", body, nil))
}

// WhyPostureBody is the body of Lab.WhyPosture.
type WhyPostureBody struct {
	// Its id or name.
	Identity string `json:"identity"`
	// Only in this API session; otherwise in all sessions of the identity.
	Session string `json:"session,omitempty"`
}

// WhyPosture sends POST /lab/v1/why/posture.
func (lab *Lab) WhyPosture(body WhyPostureBody) (Explanation, error) {
	return decoded[Explanation](lab.call("POST", "/why/posture", body, nil))
}

// WhyLinkBody is the body of Lab.WhyLink.
type WhyLinkBody struct {
	// Its id or name.
	Router string `json:"router"`
	// The id or name of the router at the other end.
	Other string `json:"other"`
}

// WhyLink sends POST /lab/v1/why/link.
func (lab *Lab) WhyLink(body WhyLinkBody) (Explanation, error) {
	return decoded[Explanation](lab.call("POST", "/why/link", body, nil))
}
