// Generated from schemas/api by `npm run generate`. DO NOT EDIT.

package edgeweave

import "net/url"

// RejoinMember sends POST /lab/v1/cluster/members/{id}/rejoin.
func (lab *Lab) RejoinMember(id string) (Data, error) {
	return lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/rejoin", nil, nil)
}

// PartitionMember sends POST /lab/v1/cluster/members/{id}/partition.
func (lab *Lab) PartitionMember(id string) (Data, error) {
	return lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/partition", nil, nil)
}

// HealMember sends POST /lab/v1/cluster/members/{id}/heal.
func (lab *Lab) HealMember(id string) (Data, error) {
	return lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/heal", nil, nil)
}

// PauseMemberBody is the body of Lab.PauseMember.
type PauseMemberBody struct {
	Duration string `json:"duration,omitempty"`
}

// PauseMember sends POST /lab/v1/cluster/members/{id}/pause.
func (lab *Lab) PauseMember(id string, body PauseMemberBody) (Data, error) {
	return lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/pause", body, nil)
}

// KillMember sends POST /lab/v1/cluster/members/{id}/kill.
func (lab *Lab) KillMember(id string) (Data, error) {
	return lab.call("POST", "/cluster/members/"+url.PathEscape(id)+"/kill", nil, nil)
}

// DetailClock sends GET /lab/v1/clock.
func (lab *Lab) DetailClock() (Data, error) {
	return lab.call("GET", "/clock", nil, nil)
}

// PatchClockBody is the body of Lab.PatchClock.
type PatchClockBody struct {
	// The new time, such as 2027-01-31T12:00:00Z.
	Time string `json:"time,omitempty"`
	// How many times as fast as the real time it runs; 0: it stands still.
	Rate *float64 `json:"rate,omitempty"`
}

// PatchClock sends PATCH /lab/v1/clock.
func (lab *Lab) PatchClock(body PatchClockBody) (Data, error) {
	return lab.call("PATCH", "/clock", body, nil)
}

// AdvanceClockBody is the body of Lab.AdvanceClock.
type AdvanceClockBody struct {
	Duration string `json:"duration"`
}

// AdvanceClock sends POST /lab/v1/clock/advance.
func (lab *Lab) AdvanceClock(body AdvanceClockBody) (Data, error) {
	return lab.call("POST", "/clock/advance", body, nil)
}

// ClearFaultsQuery is the query of Lab.ClearFaults.
type ClearFaultsQuery struct {
	Scope string `json:"scope,omitempty"`
}

// ClearFaults sends DELETE /lab/v1/faults.
func (lab *Lab) ClearFaults(query ClearFaultsQuery) (Data, error) {
	return lab.call("DELETE", "/faults", nil, query)
}

// ListFaults sends GET /lab/v1/faults.
func (lab *Lab) ListFaults() (Data, error) {
	return lab.call("GET", "/faults", nil, nil)
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
	Headers any `json:"headers,omitempty"`
	// The connection closes without an answer.
	Close *bool `json:"close,omitempty"`
	// The connection closes after half of the answer.
	Truncate *bool `json:"truncate,omitempty"`
	// A duration, such as 500ms, before the request, the message or the change is handled.
	Delay string `json:"delay,omitempty"`
	// One answer for each request, in this order; afterwards requests are handled as usual.
	Answers []string `json:"answers,omitempty"`
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
func (lab *Lab) CreateFault(body CreateFaultBody) (Data, error) {
	return lab.call("POST", "/faults", body, nil)
}

// DeleteFault sends DELETE /lab/v1/faults/{id}.
func (lab *Lab) DeleteFault(id string) (Data, error) {
	return lab.call("DELETE", "/faults/"+url.PathEscape(id), nil, nil)
}

// ClearJournal sends DELETE /lab/v1/journal.
func (lab *Lab) ClearJournal() (Data, error) {
	return lab.call("DELETE", "/journal", nil, nil)
}

// PatchJournalBody is the body of Lab.PatchJournal.
type PatchJournalBody struct {
	// Whether to record the messages of the links between routers in the process of the simulator.
	Links bool `json:"links"`
}

// PatchJournal sends PATCH /lab/v1/journal.
func (lab *Lab) PatchJournal(body PatchJournalBody) (Data, error) {
	return lab.call("PATCH", "/journal", body, nil)
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
func (lab *Lab) ListJournal(query ListJournalQuery) (Data, error) {
	return lab.call("GET", "/journal", nil, query)
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
func (lab *Lab) RecordJournal(query RecordJournalQuery) (Data, error) {
	return lab.call("GET", "/journal/recording", nil, query)
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
func (lab *Lab) WaitForEntry(body WaitForEntryBody) (Data, error) {
	return holding("entry")(lab.call("POST", "/journal/wait", body, nil))
}

// FindEntry sends POST /lab/v1/journal/wait.
// Unlike WaitForEntry, it also returns an answer that does not hold.
func (lab *Lab) FindEntry(body WaitForEntryBody) (Data, error) {
	return lab.call("POST", "/journal/wait", body, nil)
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
func (lab *Lab) VerifyJournal(body VerifyJournalBody) (Data, error) {
	return holding("verified")(lab.call("POST", "/journal/verify", body, nil))
}

// CheckJournal sends POST /lab/v1/journal/verify.
// Unlike VerifyJournal, it also returns an answer that does not hold.
func (lab *Lab) CheckJournal(body VerifyJournalBody) (Data, error) {
	return lab.call("POST", "/journal/verify", body, nil)
}

// EnrollIdentityBody is the body of Lab.EnrollIdentity.
type EnrollIdentityBody struct {
	RoleAttributes []string `json:"roleAttributes,omitempty"`
}

// EnrollIdentity sends POST /lab/v1/identities/{name}/enroll.
func (lab *Lab) EnrollIdentity(name string, body EnrollIdentityBody) (Data, error) {
	return lab.call("POST", "/identities/"+url.PathEscape(name)+"/enroll", body, nil)
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
func (lab *Lab) CreateService(body CreateServiceBody) (Data, error) {
	return lab.call("POST", "/services", body, nil)
}

// DetailToken sends GET /lab/v1/tokens/{name}.
func (lab *Lab) DetailToken(name string) (Data, error) {
	return lab.call("GET", "/tokens/"+url.PathEscape(name), nil, nil)
}

// DetailNetwork sends GET /lab/v1/network.
func (lab *Lab) DetailNetwork() (Data, error) {
	return lab.call("GET", "/network", nil, nil)
}

// WaitForNetworkBody is the body of Lab.WaitForNetwork.
type WaitForNetworkBody struct {
	// A duration, such as 30s; default 15s, at most 50s.
	Timeout string `json:"timeout,omitempty"`
}

// WaitForNetwork sends POST /lab/v1/network/wait.
func (lab *Lab) WaitForNetwork(body WaitForNetworkBody) (Data, error) {
	return lab.call("POST", "/network/wait", body, nil)
}

// ListProxies sends GET /lab/v1/proxies.
func (lab *Lab) ListProxies() (Data, error) {
	return lab.call("GET", "/proxies", nil, nil)
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
func (lab *Lab) CreateProxy(body CreateProxyBody) (Data, error) {
	return lab.call("POST", "/proxies", body, nil)
}

// DeleteProxy sends DELETE /lab/v1/proxies/{name}.
func (lab *Lab) DeleteProxy(name string) (Data, error) {
	return lab.call("DELETE", "/proxies/"+url.PathEscape(name), nil, nil)
}

// DisconnectRouter sends POST /lab/v1/routers/{id}/disconnect.
func (lab *Lab) DisconnectRouter(id string) (Data, error) {
	return lab.call("POST", "/routers/"+url.PathEscape(id)+"/disconnect", nil, nil)
}

// ListSnapshots sends GET /lab/v1/snapshots.
func (lab *Lab) ListSnapshots() (Data, error) {
	return lab.call("GET", "/snapshots", nil, nil)
}

// CreateSnapshotBody is the body of Lab.CreateSnapshot.
type CreateSnapshotBody struct {
	Name string `json:"name"`
}

// CreateSnapshot sends POST /lab/v1/snapshots.
func (lab *Lab) CreateSnapshot(body CreateSnapshotBody) (Data, error) {
	return lab.call("POST", "/snapshots", body, nil)
}

// DeleteSnapshot sends DELETE /lab/v1/snapshots/{name}.
func (lab *Lab) DeleteSnapshot(name string) (Data, error) {
	return lab.call("DELETE", "/snapshots/"+url.PathEscape(name), nil, nil)
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
func (lab *Lab) LoadSnapshot(body LoadSnapshotBody) (Data, error) {
	return lab.call("POST", "/snapshots/load", body, nil)
}

// SaveSnapshotQuery is the query of Lab.SaveSnapshot.
type SaveSnapshotQuery struct {
	Credentials *bool `json:"credentials,omitempty"`
}

// SaveSnapshot sends GET /lab/v1/snapshots/{name}/file.
func (lab *Lab) SaveSnapshot(name string, query SaveSnapshotQuery) (Data, error) {
	return lab.call("GET", "/snapshots/"+url.PathEscape(name)+"/file", nil, query)
}

// RestoreSnapshotBody is the body of Lab.RestoreSnapshot.
type RestoreSnapshotBody struct {
	// Parts that stay as they are.
	Keep []string `json:"keep,omitempty"`
}

// RestoreSnapshot sends POST /lab/v1/snapshots/{name}/restore.
func (lab *Lab) RestoreSnapshot(name string, body RestoreSnapshotBody) (Data, error) {
	return lab.call("POST", "/snapshots/"+url.PathEscape(name)+"/restore", body, nil)
}

// ResetBody is the body of Lab.Reset.
type ResetBody struct {
	// Parts that stay as they are.
	Keep []string `json:"keep,omitempty"`
}

// Reset sends POST /lab/v1/reset.
func (lab *Lab) Reset(body ResetBody) (Data, error) {
	return lab.call("POST", "/reset", body, nil)
}

// SeedQuery is the query of Lab.Seed.
type SeedQuery struct {
	Apply *bool `json:"apply,omitempty"`
	Prune *bool `json:"prune,omitempty"`
	Plan  *bool `json:"plan,omitempty"`
}

// Seed sends POST /lab/v1/seed.
func (lab *Lab) Seed(document any, query SeedQuery) (Data, error) {
	return lab.call("POST", "/seed", document, query)
}

// WhatIfQuery is the query of Lab.WhatIf.
type WhatIfQuery struct {
	Prune *bool `json:"prune,omitempty"`
}

// WhatIf sends POST /lab/v1/what-if.
func (lab *Lab) WhatIf(document any, query WhatIfQuery) (Data, error) {
	return lab.call("POST", "/what-if", document, query)
}

// ExportNetwork sends GET /lab/v1/export.
func (lab *Lab) ExportNetwork() (Data, error) {
	return lab.call("GET", "/export", nil, nil)
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
func (lab *Lab) Why(body WhyBody) (Data, error) {
	return lab.call("POST", "/why", body, nil)
}

// WhyLoginBody is the body of Lab.WhyLogin.
type WhyLoginBody struct {
	// Its id or name.
	Identity string `json:"identity"`
}

// WhyLogin sends POST /lab/v1/why/login.
func (lab *Lab) WhyLogin(body WhyLoginBody) (Data, error) {
	return lab.call("POST", "/why/login", body, nil)
}

// WhySessionBody is the body of Lab.WhySession.
type WhySessionBody struct {
	// The id of an API session, also of one that has ended.
	Session string `json:"session"`
}

// WhySession sends POST /lab/v1/why/session.
func (lab *Lab) WhySession(body WhySessionBody) (Data, error) {
	return lab.call("POST", "/why/session", body, nil)
}

// WhyPostureBody is the body of Lab.WhyPosture.
type WhyPostureBody struct {
	// Its id or name.
	Identity string `json:"identity"`
	// Only in this API session; otherwise in all sessions of the identity.
	Session string `json:"session,omitempty"`
}

// WhyPosture sends POST /lab/v1/why/posture.
func (lab *Lab) WhyPosture(body WhyPostureBody) (Data, error) {
	return lab.call("POST", "/why/posture", body, nil)
}

// WhyLinkBody is the body of Lab.WhyLink.
type WhyLinkBody struct {
	// Its id or name.
	Router string `json:"router"`
	// The id or name of the router at the other end.
	Other string `json:"other"`
}

// WhyLink sends POST /lab/v1/why/link.
func (lab *Lab) WhyLink(body WhyLinkBody) (Data, error) {
	return lab.call("POST", "/why/link", body, nil)
}
