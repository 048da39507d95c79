// Generated from schemas/lab by `npm run generate`. DO NOT EDIT.

package edgeweave

// Calls with every field of each operation.
var calls = []fieldCall{
	{
		"rejoinMember",
		func(lab *Lab) (any, error) {
			return nil, lab.RejoinMember("id/ é")
		},
		"{\"method\":\"POST\",\"path\":\"/cluster/members/id%2F%20%C3%A9/rejoin\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"partitionMember",
		func(lab *Lab) (any, error) {
			return nil, lab.PartitionMember("id/ é")
		},
		"{\"method\":\"POST\",\"path\":\"/cluster/members/id%2F%20%C3%A9/partition\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"healMember",
		func(lab *Lab) (any, error) {
			return nil, lab.HealMember("id/ é")
		},
		"{\"method\":\"POST\",\"path\":\"/cluster/members/id%2F%20%C3%A9/heal\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"pauseMember",
		func(lab *Lab) (any, error) {
			return nil, lab.PauseMember("id/ é", PauseMemberBody{Duration: "duration é"})
		},
		"{\"method\":\"POST\",\"path\":\"/cluster/members/id%2F%20%C3%A9/pause\",\"query\":{},\"body\":{\"duration\":\"duration é\"},\"answer\":{}}",
		false,
	},
	{
		"killMember",
		func(lab *Lab) (any, error) {
			return nil, lab.KillMember("id/ é")
		},
		"{\"method\":\"POST\",\"path\":\"/cluster/members/id%2F%20%C3%A9/kill\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"detailClock",
		func(lab *Lab) (any, error) {
			return lab.DetailClock()
		},
		"{\"method\":\"GET\",\"path\":\"/clock\",\"query\":{},\"body\":null,\"answer\":{\"now\":\"now é\",\"advanced\":\"advanced é\",\"rate\":0.5}}",
		true,
	},
	{
		"patchClock",
		func(lab *Lab) (any, error) {
			return lab.PatchClock(PatchClockBody{Time: "time é", Rate: pointer(0.5)})
		},
		"{\"method\":\"PATCH\",\"path\":\"/clock\",\"query\":{},\"body\":{\"time\":\"time é\",\"rate\":0.5},\"answer\":{\"now\":\"now é\",\"advanced\":\"advanced é\",\"rate\":0.5}}",
		true,
	},
	{
		"advanceClock",
		func(lab *Lab) (any, error) {
			return lab.AdvanceClock(AdvanceClockBody{Duration: "duration é"})
		},
		"{\"method\":\"POST\",\"path\":\"/clock/advance\",\"query\":{},\"body\":{\"duration\":\"duration é\"},\"answer\":{\"now\":\"now é\",\"advanced\":\"advanced é\",\"rate\":0.5}}",
		true,
	},
	{
		"clearFaults",
		func(lab *Lab) (any, error) {
			return nil, lab.ClearFaults(ClearFaultsQuery{Scope: "scope é"})
		},
		"{\"method\":\"DELETE\",\"path\":\"/faults\",\"query\":{\"scope\":\"scope é\"},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"listFaults",
		func(lab *Lab) (any, error) {
			return lab.ListFaults()
		},
		"{\"method\":\"GET\",\"path\":\"/faults\",\"query\":{},\"body\":null,\"answer\":[{\"id\":\"id é\",\"hits\":7,\"kind\":\"store\",\"method\":\"method é\",\"path\":\"path é\",\"operation\":\"operation é\",\"identity\":\"identity é\",\"status\":7,\"code\":\"code é\",\"body\":{\"any\":[1,\"text\",true]},\"headers\":{\"key\":\"headers é\"},\"close\":true,\"truncate\":true,\"delay\":\"delay é\",\"answers\":[{\"status\":7,\"code\":\"code é\",\"body\":{\"any\":[1,\"text\",true]},\"headers\":{\"key\":\"headers é\"},\"close\":true,\"truncate\":true,\"delay\":\"delay é\"}],\"router\":\"router é\",\"peer\":\"peer é\",\"proxy\":\"proxy é\",\"message\":\"message é\",\"direction\":\"down\",\"drop\":true,\"duplicate\":true,\"reorder\":true,\"reject\":true,\"latency\":\"latency é\",\"jitter\":\"jitter é\",\"bandwidth\":7,\"slice\":7,\"sliceDelay\":\"sliceDelay é\",\"limit\":7,\"closeDelay\":\"closeDelay é\",\"stall\":true,\"halfOpen\":true,\"cut\":true,\"fail\":true,\"full\":true,\"times\":7,\"probability\":0.5,\"lasts\":\"lasts é\",\"scope\":\"scope é\"}]}",
		true,
	},
	{
		"createFault",
		func(lab *Lab) (any, error) {
			return lab.CreateFault(CreateFaultBody{Kind: "store", Method: "method é", Path: "path é", Operation: "operation é", Identity: "identity é", Status: pointer(7), Code: "code é", Body: map[string]any{"any": []any{1, "text", true}}, Headers: map[string]string{"key": "headers é"}, Close: pointer(true), Truncate: pointer(true), Delay: "delay é", Answers: []CreateFaultAnswer{CreateFaultAnswer{Status: pointer(7), Code: "code é", Body: map[string]any{"any": []any{1, "text", true}}, Headers: map[string]string{"key": "headers é"}, Close: pointer(true), Truncate: pointer(true), Delay: "delay é"}}, Router: "router é", Peer: "peer é", Proxy: "proxy é", Message: "message é", Direction: "down", Drop: pointer(true), Duplicate: pointer(true), Reorder: pointer(true), Reject: pointer(true), Latency: "latency é", Jitter: "jitter é", Bandwidth: pointer(7), Slice: pointer(7), SliceDelay: "sliceDelay é", Limit: pointer(7), CloseDelay: "closeDelay é", Stall: pointer(true), HalfOpen: pointer(true), Cut: pointer(true), Fail: pointer(true), Full: pointer(true), Times: pointer(7), Probability: pointer(0.5), Lasts: "lasts é", Scope: "scope é"})
		},
		"{\"method\":\"POST\",\"path\":\"/faults\",\"query\":{},\"body\":{\"kind\":\"store\",\"method\":\"method é\",\"path\":\"path é\",\"operation\":\"operation é\",\"identity\":\"identity é\",\"status\":7,\"code\":\"code é\",\"body\":{\"any\":[1,\"text\",true]},\"headers\":{\"key\":\"headers é\"},\"close\":true,\"truncate\":true,\"delay\":\"delay é\",\"answers\":[{\"status\":7,\"code\":\"code é\",\"body\":{\"any\":[1,\"text\",true]},\"headers\":{\"key\":\"headers é\"},\"close\":true,\"truncate\":true,\"delay\":\"delay é\"}],\"router\":\"router é\",\"peer\":\"peer é\",\"proxy\":\"proxy é\",\"message\":\"message é\",\"direction\":\"down\",\"drop\":true,\"duplicate\":true,\"reorder\":true,\"reject\":true,\"latency\":\"latency é\",\"jitter\":\"jitter é\",\"bandwidth\":7,\"slice\":7,\"sliceDelay\":\"sliceDelay é\",\"limit\":7,\"closeDelay\":\"closeDelay é\",\"stall\":true,\"halfOpen\":true,\"cut\":true,\"fail\":true,\"full\":true,\"times\":7,\"probability\":0.5,\"lasts\":\"lasts é\",\"scope\":\"scope é\"},\"answer\":{\"id\":\"id é\",\"hits\":7,\"kind\":\"store\",\"method\":\"method é\",\"path\":\"path é\",\"operation\":\"operation é\",\"identity\":\"identity é\",\"status\":7,\"code\":\"code é\",\"body\":{\"any\":[1,\"text\",true]},\"headers\":{\"key\":\"headers é\"},\"close\":true,\"truncate\":true,\"delay\":\"delay é\",\"answers\":[{\"status\":7,\"code\":\"code é\",\"body\":{\"any\":[1,\"text\",true]},\"headers\":{\"key\":\"headers é\"},\"close\":true,\"truncate\":true,\"delay\":\"delay é\"}],\"router\":\"router é\",\"peer\":\"peer é\",\"proxy\":\"proxy é\",\"message\":\"message é\",\"direction\":\"down\",\"drop\":true,\"duplicate\":true,\"reorder\":true,\"reject\":true,\"latency\":\"latency é\",\"jitter\":\"jitter é\",\"bandwidth\":7,\"slice\":7,\"sliceDelay\":\"sliceDelay é\",\"limit\":7,\"closeDelay\":\"closeDelay é\",\"stall\":true,\"halfOpen\":true,\"cut\":true,\"fail\":true,\"full\":true,\"times\":7,\"probability\":0.5,\"lasts\":\"lasts é\",\"scope\":\"scope é\"}}",
		true,
	},
	{
		"deleteFault",
		func(lab *Lab) (any, error) {
			return nil, lab.DeleteFault("id/ é")
		},
		"{\"method\":\"DELETE\",\"path\":\"/faults/id%2F%20%C3%A9\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"clearJournal",
		func(lab *Lab) (any, error) {
			return nil, lab.ClearJournal()
		},
		"{\"method\":\"DELETE\",\"path\":\"/journal\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"patchJournal",
		func(lab *Lab) (any, error) {
			return lab.PatchJournal(PatchJournalBody{Links: true})
		},
		"{\"method\":\"PATCH\",\"path\":\"/journal\",\"query\":{},\"body\":{\"links\":true},\"answer\":{\"links\":true}}",
		true,
	},
	{
		"listJournal",
		func(lab *Lab) (any, error) {
			return lab.ListJournal(ListJournalQuery{Limit: pointer(7), After: pointer(7), Kind: "kind é", Identity: "identity é", Router: "router é", Message: "message é", Path: "path é", Operation: "operation é", Method: "method é", Status: pointer(7), Fault: "fault é", Failed: pointer(true)})
		},
		"{\"method\":\"GET\",\"path\":\"/journal\",\"query\":{\"limit\":\"7\",\"after\":\"7\",\"kind\":\"kind é\",\"identity\":\"identity é\",\"router\":\"router é\",\"message\":\"message é\",\"path\":\"path é\",\"operation\":\"operation é\",\"method\":\"method é\",\"status\":\"7\",\"fault\":\"fault é\",\"failed\":\"true\"},\"body\":null,\"answer\":[{\"kind\":\"link\",\"sequence\":7,\"time\":\"time é\",\"method\":\"method é\",\"path\":\"path é\",\"query\":\"query é\",\"api\":\"api é\",\"operation\":\"operation é\",\"status\":7,\"code\":\"code é\",\"reason\":\"reason é\",\"duration\":0.5,\"source\":\"source é\",\"identity\":{\"id\":\"id é\",\"name\":\"name é\"},\"bytes\":7,\"body\":\"body é\",\"headers\":{\"key\":\"headers é\"},\"answer\":\"answer é\",\"answerHeaders\":{\"key\":\"answerHeaders é\"},\"event\":\"message\",\"router\":{\"id\":\"id é\",\"name\":\"name é\"},\"direction\":\"out\",\"peer\":{\"id\":\"id é\",\"name\":\"name é\"},\"link\":\"link é\",\"message\":\"message é\",\"content\":{\"any\":[1,\"text\",true]},\"fault\":\"fault é\"}]}",
		true,
	},
	{
		"recordJournal",
		func(lab *Lab) (any, error) {
			return lab.RecordJournal(RecordJournalQuery{After: pointer(7), Identity: "identity é", Path: "path é", Operation: "operation é", Method: "method é", Status: pointer(7), Fault: "fault é", Failed: pointer(true)})
		},
		"{\"method\":\"GET\",\"path\":\"/journal/recording\",\"query\":{\"after\":\"7\",\"identity\":\"identity é\",\"path\":\"path é\",\"operation\":\"operation é\",\"method\":\"method é\",\"status\":\"7\",\"fault\":\"fault é\",\"failed\":\"true\"},\"body\":null,\"answer\":{\"requests\":7,\"omitted\":7,\"text\":\"text é\"}}",
		true,
	},
	{
		"waitForEntry",
		func(lab *Lab) (any, error) {
			return lab.WaitForEntry(WaitForEntryBody{Kind: "link", Identity: "identity é", Router: "router é", Message: "message é", Path: "path é", Operation: "operation é", Method: "method é", Status: pointer(7), Fault: "fault é", Failed: pointer(true), After: pointer(7), Timeout: "timeout é"})
		},
		"{\"method\":\"POST\",\"path\":\"/journal/wait\",\"query\":{},\"body\":{\"kind\":\"link\",\"identity\":\"identity é\",\"router\":\"router é\",\"message\":\"message é\",\"path\":\"path é\",\"operation\":\"operation é\",\"method\":\"method é\",\"status\":7,\"fault\":\"fault é\",\"failed\":true,\"after\":7,\"timeout\":\"timeout é\"},\"answer\":{\"entry\":{\"kind\":\"link\",\"sequence\":7,\"time\":\"time é\",\"method\":\"method é\",\"path\":\"path é\",\"query\":\"query é\",\"api\":\"api é\",\"operation\":\"operation é\",\"status\":7,\"code\":\"code é\",\"reason\":\"reason é\",\"duration\":0.5,\"source\":\"source é\",\"identity\":{\"id\":\"id é\",\"name\":\"name é\"},\"bytes\":7,\"body\":\"body é\",\"headers\":{\"key\":\"headers é\"},\"answer\":\"answer é\",\"answerHeaders\":{\"key\":\"answerHeaders é\"},\"event\":\"message\",\"router\":{\"id\":\"id é\",\"name\":\"name é\"},\"direction\":\"out\",\"peer\":{\"id\":\"id é\",\"name\":\"name é\"},\"link\":\"link é\",\"message\":\"message é\",\"content\":{\"any\":[1,\"text\",true]},\"fault\":\"fault é\"},\"message\":\"message é\"}}",
		true,
	},
	{
		"findEntry",
		func(lab *Lab) (any, error) {
			return lab.FindEntry(WaitForEntryBody{Kind: "link", Identity: "identity é", Router: "router é", Message: "message é", Path: "path é", Operation: "operation é", Method: "method é", Status: pointer(7), Fault: "fault é", Failed: pointer(true), After: pointer(7), Timeout: "timeout é"})
		},
		"{\"method\":\"POST\",\"path\":\"/journal/wait\",\"query\":{},\"body\":{\"kind\":\"link\",\"identity\":\"identity é\",\"router\":\"router é\",\"message\":\"message é\",\"path\":\"path é\",\"operation\":\"operation é\",\"method\":\"method é\",\"status\":7,\"fault\":\"fault é\",\"failed\":true,\"after\":7,\"timeout\":\"timeout é\"},\"answer\":{\"entry\":{\"kind\":\"link\",\"sequence\":7,\"time\":\"time é\",\"method\":\"method é\",\"path\":\"path é\",\"query\":\"query é\",\"api\":\"api é\",\"operation\":\"operation é\",\"status\":7,\"code\":\"code é\",\"reason\":\"reason é\",\"duration\":0.5,\"source\":\"source é\",\"identity\":{\"id\":\"id é\",\"name\":\"name é\"},\"bytes\":7,\"body\":\"body é\",\"headers\":{\"key\":\"headers é\"},\"answer\":\"answer é\",\"answerHeaders\":{\"key\":\"answerHeaders é\"},\"event\":\"message\",\"router\":{\"id\":\"id é\",\"name\":\"name é\"},\"direction\":\"out\",\"peer\":{\"id\":\"id é\",\"name\":\"name é\"},\"link\":\"link é\",\"message\":\"message é\",\"content\":{\"any\":[1,\"text\",true]},\"fault\":\"fault é\"},\"message\":\"message é\"}}",
		true,
	},
	{
		"verifyJournal",
		func(lab *Lab) (any, error) {
			return lab.VerifyJournal(VerifyJournalBody{Kind: "link", Identity: "identity é", Router: "router é", Message: "message é", Path: "path é", Operation: "operation é", Method: "method é", Status: pointer(7), Fault: "fault é", Failed: pointer(true), After: pointer(7), Times: pointer(7), Within: "within é"})
		},
		"{\"method\":\"POST\",\"path\":\"/journal/verify\",\"query\":{},\"body\":{\"kind\":\"link\",\"identity\":\"identity é\",\"router\":\"router é\",\"message\":\"message é\",\"path\":\"path é\",\"operation\":\"operation é\",\"method\":\"method é\",\"status\":7,\"fault\":\"fault é\",\"failed\":true,\"after\":7,\"times\":7,\"within\":\"within é\"},\"answer\":{\"verified\":true,\"count\":7,\"message\":\"message é\"}}",
		true,
	},
	{
		"checkJournal",
		func(lab *Lab) (any, error) {
			return lab.CheckJournal(VerifyJournalBody{Kind: "link", Identity: "identity é", Router: "router é", Message: "message é", Path: "path é", Operation: "operation é", Method: "method é", Status: pointer(7), Fault: "fault é", Failed: pointer(true), After: pointer(7), Times: pointer(7), Within: "within é"})
		},
		"{\"method\":\"POST\",\"path\":\"/journal/verify\",\"query\":{},\"body\":{\"kind\":\"link\",\"identity\":\"identity é\",\"router\":\"router é\",\"message\":\"message é\",\"path\":\"path é\",\"operation\":\"operation é\",\"method\":\"method é\",\"status\":7,\"fault\":\"fault é\",\"failed\":true,\"after\":7,\"times\":7,\"within\":\"within é\"},\"answer\":{\"verified\":true,\"count\":7,\"message\":\"message é\"}}",
		true,
	},
	{
		"enrollIdentity",
		func(lab *Lab) (any, error) {
			return lab.EnrollIdentity("name/ é", EnrollIdentityBody{RoleAttributes: []string{"roleAttributes é"}})
		},
		"{\"method\":\"POST\",\"path\":\"/identities/name%2F%20%C3%A9/enroll\",\"query\":{},\"body\":{\"roleAttributes\":[\"roleAttributes é\"]},\"answer\":{\"ztAPI\":\"ztAPI é\",\"ztAPIs\":[\"ztAPIs é\"],\"id\":{\"cert\":\"cert é\",\"key\":\"key é\",\"ca\":\"ca é\"}}}",
		true,
	},
	{
		"createService",
		func(lab *Lab) (any, error) {
			return lab.CreateService(CreateServiceBody{Name: "name é", Host: "host é", Port: 7, Address: "address é", EncryptionRequired: pointer(true)})
		},
		"{\"method\":\"POST\",\"path\":\"/services\",\"query\":{},\"body\":{\"name\":\"name é\",\"host\":\"host é\",\"port\":7,\"address\":\"address é\",\"encryptionRequired\":true},\"answer\":{\"id\":\"id é\",\"name\":\"name é\",\"host\":\"host é\",\"dial\":{\"host\":\"host é\",\"port\":7}}}",
		true,
	},
	{
		"detailToken",
		func(lab *Lab) (any, error) {
			return lab.DetailToken("name/ é")
		},
		"{\"method\":\"GET\",\"path\":\"/tokens/name%2F%20%C3%A9\",\"query\":{},\"body\":null,\"answer\":{\"token\":\"token é\"}}",
		true,
	},
	{
		"detailNetwork",
		func(lab *Lab) (any, error) {
			return lab.DetailNetwork()
		},
		"{\"method\":\"GET\",\"path\":\"/network\",\"query\":{},\"body\":null,\"answer\":{\"controllers\":[{\"id\":\"id é\",\"url\":\"url é\",\"controlAddress\":\"controlAddress é\",\"connected\":true,\"leader\":true,\"startedAt\":\"startedAt é\",\"index\":7,\"behind\":7,\"problem\":\"problem é\"}],\"routers\":[{\"id\":\"id é\",\"name\":\"name é\",\"online\":true,\"type\":\"transit\",\"disabled\":true,\"cost\":7,\"version\":\"version é\",\"identities\":7}],\"links\":[{\"id\":\"id é\",\"source\":\"source é\",\"destination\":\"destination é\",\"state\":\"disconnected\",\"cost\":7,\"latency\":0.5}],\"circuits\":[{\"id\":\"id é\",\"service\":\"service é\",\"client\":\"client é\",\"path\":[\"path é\"],\"age\":7,\"rate\":7}],\"totals\":{\"routers\":7,\"online\":7,\"links\":7,\"circuits\":7},\"entities\":{\"key\":7},\"journal\":{\"entries\":7,\"last\":7,\"links\":true}}}",
		true,
	},
	{
		"waitForNetwork",
		func(lab *Lab) (any, error) {
			return nil, lab.WaitForNetwork(WaitForNetworkBody{Timeout: "timeout é"})
		},
		"{\"method\":\"POST\",\"path\":\"/network/wait\",\"query\":{},\"body\":{\"timeout\":\"timeout é\"},\"answer\":{}}",
		false,
	},
	{
		"listProxies",
		func(lab *Lab) (any, error) {
			return lab.ListProxies()
		},
		"{\"method\":\"GET\",\"path\":\"/proxies\",\"query\":{},\"body\":null,\"answer\":[{\"name\":\"name é\",\"host\":\"host é\",\"port\":7,\"to\":\"to é\",\"connections\":7}]}",
		true,
	},
	{
		"createProxy",
		func(lab *Lab) (any, error) {
			return lab.CreateProxy(CreateProxyBody{Name: "name é", To: "to é", Port: pointer(7)})
		},
		"{\"method\":\"POST\",\"path\":\"/proxies\",\"query\":{},\"body\":{\"name\":\"name é\",\"to\":\"to é\",\"port\":7},\"answer\":{\"name\":\"name é\",\"host\":\"host é\",\"port\":7,\"to\":\"to é\",\"connections\":7}}",
		true,
	},
	{
		"deleteProxy",
		func(lab *Lab) (any, error) {
			return nil, lab.DeleteProxy("name/ é")
		},
		"{\"method\":\"DELETE\",\"path\":\"/proxies/name%2F%20%C3%A9\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"disconnectRouter",
		func(lab *Lab) (any, error) {
			return nil, lab.DisconnectRouter("id/ é")
		},
		"{\"method\":\"POST\",\"path\":\"/routers/id%2F%20%C3%A9/disconnect\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"listSnapshots",
		func(lab *Lab) (any, error) {
			return lab.ListSnapshots()
		},
		"{\"method\":\"GET\",\"path\":\"/snapshots\",\"query\":{},\"body\":null,\"answer\":[{\"name\":\"name é\",\"takenAt\":\"takenAt é\",\"index\":7,\"entities\":7,\"controllerId\":\"controllerId é\"}]}",
		true,
	},
	{
		"createSnapshot",
		func(lab *Lab) (any, error) {
			return lab.CreateSnapshot(CreateSnapshotBody{Name: "name é"})
		},
		"{\"method\":\"POST\",\"path\":\"/snapshots\",\"query\":{},\"body\":{\"name\":\"name é\"},\"answer\":{\"name\":\"name é\",\"takenAt\":\"takenAt é\",\"index\":7,\"entities\":7,\"controllerId\":\"controllerId é\"}}",
		true,
	},
	{
		"deleteSnapshot",
		func(lab *Lab) (any, error) {
			return nil, lab.DeleteSnapshot("name/ é")
		},
		"{\"method\":\"DELETE\",\"path\":\"/snapshots/name%2F%20%C3%A9\",\"query\":{},\"body\":null,\"answer\":{}}",
		false,
	},
	{
		"loadSnapshot",
		func(lab *Lab) (any, error) {
			return lab.LoadSnapshot(LoadSnapshotBody{Name: "name é", File: map[string]any{"any": []any{1, "text", true}}, Credentials: pointer(true)})
		},
		"{\"method\":\"POST\",\"path\":\"/snapshots/load\",\"query\":{},\"body\":{\"name\":\"name é\",\"file\":{\"any\":[1,\"text\",true]},\"credentials\":true},\"answer\":{\"name\":\"name é\",\"takenAt\":\"takenAt é\",\"index\":7,\"entities\":7,\"controllerId\":\"controllerId é\"}}",
		true,
	},
	{
		"saveSnapshot",
		func(lab *Lab) (any, error) {
			return lab.SaveSnapshot("name/ é", SaveSnapshotQuery{Credentials: pointer(true)})
		},
		"{\"method\":\"GET\",\"path\":\"/snapshots/name%2F%20%C3%A9/file\",\"query\":{\"credentials\":\"true\"},\"body\":null,\"answer\":{\"format\":\"edgeweave-snapshot/1\",\"name\":\"name é\",\"takenAt\":\"takenAt é\",\"credentials\":true,\"clock\":{\"rate\":0.5,\"advanced\":0.5,\"now\":0.5},\"entities\":{\"any\":[1,\"text\",true]}}}",
		true,
	},
	{
		"restoreSnapshot",
		func(lab *Lab) (any, error) {
			return lab.RestoreSnapshot("name/ é", RestoreSnapshotBody{Keep: []string{"journal"}})
		},
		"{\"method\":\"POST\",\"path\":\"/snapshots/name%2F%20%C3%A9/restore\",\"query\":{},\"body\":{\"keep\":[\"journal\"]},\"answer\":{\"created\":7,\"changed\":7,\"deleted\":7}}",
		true,
	},
	{
		"reset",
		func(lab *Lab) (any, error) {
			return lab.Reset(ResetBody{Keep: []string{"journal"}})
		},
		"{\"method\":\"POST\",\"path\":\"/reset\",\"query\":{},\"body\":{\"keep\":[\"journal\"]},\"answer\":{\"created\":7,\"changed\":7,\"deleted\":7}}",
		true,
	},
	{
		"seed",
		func(lab *Lab) (any, error) {
			return lab.Seed(map[string]any{"services": []any{map[string]any{"name": "wiki"}}}, SeedQuery{Apply: pointer(true), Prune: pointer(true), Plan: pointer(true)})
		},
		"{\"method\":\"POST\",\"path\":\"/seed\",\"query\":{\"apply\":\"true\",\"prune\":\"true\",\"plan\":\"true\"},\"body\":{\"services\":[{\"name\":\"wiki\"}]},\"answer\":{\"created\":{\"key\":7},\"existing\":{\"key\":7},\"different\":[{\"kind\":\"kind é\",\"name\":\"name é\",\"fields\":[\"fields é\"]}],\"changed\":{\"key\":7},\"deleted\":{\"key\":7},\"steps\":[{\"action\":\"delete\",\"kind\":\"kind é\",\"name\":\"name é\",\"fields\":[\"fields é\"]}]}}",
		true,
	},
	{
		"whatIf",
		func(lab *Lab) (any, error) {
			return lab.WhatIf(map[string]any{"services": []any{map[string]any{"name": "wiki"}}}, WhatIfQuery{Prune: pointer(true)})
		},
		"{\"method\":\"POST\",\"path\":\"/what-if\",\"query\":{\"prune\":\"true\"},\"body\":{\"services\":[{\"name\":\"wiki\"}]},\"answer\":{\"gained\":[{\"identity\":\"identity é\",\"service\":\"service é\",\"type\":\"Bind\"}],\"lost\":[{\"identity\":\"identity é\",\"service\":\"service é\",\"type\":\"Bind\"}],\"totals\":{\"gained\":7,\"lost\":7},\"seeded\":{\"created\":{\"key\":7},\"existing\":{\"key\":7},\"different\":[{\"kind\":\"kind é\",\"name\":\"name é\",\"fields\":[\"fields é\"]}],\"changed\":{\"key\":7},\"deleted\":{\"key\":7},\"steps\":[{\"action\":\"delete\",\"kind\":\"kind é\",\"name\":\"name é\",\"fields\":[\"fields é\"]}]}}}",
		true,
	},
	{
		"exportNetwork",
		func(lab *Lab) (any, error) {
			return lab.ExportNetwork()
		},
		"{\"method\":\"GET\",\"path\":\"/export\",\"query\":{},\"body\":null,\"answer\":{\"key\":[{\"any\":[1,\"text\",true]}]}}",
		true,
	},
	{
		"why",
		func(lab *Lab) (any, error) {
			return lab.Why(WhyBody{Identity: "identity é", Service: "service é", Type: "Bind", Router: "router é", Session: "session é"})
		},
		"{\"method\":\"POST\",\"path\":\"/why\",\"query\":{},\"body\":{\"identity\":\"identity é\",\"service\":\"service é\",\"type\":\"Bind\",\"router\":\"router é\",\"session\":\"session é\"},\"answer\":{\"allowed\":true,\"identity\":{\"id\":\"id é\",\"name\":\"name é\"},\"service\":{\"id\":\"id é\",\"name\":\"name é\"},\"type\":\"Bind\",\"reasons\":[{\"ok\":true,\"blocking\":true,\"kind\":\"kind é\",\"id\":\"id é\",\"name\":\"name é\",\"message\":\"message é\",\"remedy\":\"remedy é\",\"repair\":{\"key\":[{\"any\":[1,\"text\",true]}]}}]}}",
		true,
	},
	{
		"whyLogin",
		func(lab *Lab) (any, error) {
			return lab.WhyLogin(WhyLoginBody{Identity: "identity é"})
		},
		"{\"method\":\"POST\",\"path\":\"/why/login\",\"query\":{},\"body\":{\"identity\":\"identity é\"},\"answer\":{\"ok\":true,\"summary\":\"summary é\",\"reasons\":[{\"ok\":true,\"blocking\":true,\"kind\":\"kind é\",\"id\":\"id é\",\"name\":\"name é\",\"message\":\"message é\",\"remedy\":\"remedy é\",\"repair\":{\"key\":[{\"any\":[1,\"text\",true]}]}}]}}",
		true,
	},
	{
		"whySession",
		func(lab *Lab) (any, error) {
			return lab.WhySession(WhySessionBody{Session: "session é"})
		},
		"{\"method\":\"POST\",\"path\":\"/why/session\",\"query\":{},\"body\":{\"session\":\"session é\"},\"answer\":{\"ok\":true,\"summary\":\"summary é\",\"reasons\":[{\"ok\":true,\"blocking\":true,\"kind\":\"kind é\",\"id\":\"id é\",\"name\":\"name é\",\"message\":\"message é\",\"remedy\":\"remedy é\",\"repair\":{\"key\":[{\"any\":[1,\"text\",true]}]}}]}}",
		true,
	},
	{
		"whyPosture",
		func(lab *Lab) (any, error) {
			return lab.WhyPosture(WhyPostureBody{Identity: "identity é", Session: "session é"})
		},
		"{\"method\":\"POST\",\"path\":\"/why/posture\",\"query\":{},\"body\":{\"identity\":\"identity é\",\"session\":\"session é\"},\"answer\":{\"ok\":true,\"summary\":\"summary é\",\"reasons\":[{\"ok\":true,\"blocking\":true,\"kind\":\"kind é\",\"id\":\"id é\",\"name\":\"name é\",\"message\":\"message é\",\"remedy\":\"remedy é\",\"repair\":{\"key\":[{\"any\":[1,\"text\",true]}]}}]}}",
		true,
	},
	{
		"whyLink",
		func(lab *Lab) (any, error) {
			return lab.WhyLink(WhyLinkBody{Router: "router é", Other: "other é"})
		},
		"{\"method\":\"POST\",\"path\":\"/why/link\",\"query\":{},\"body\":{\"router\":\"router é\",\"other\":\"other é\"},\"answer\":{\"ok\":true,\"summary\":\"summary é\",\"reasons\":[{\"ok\":true,\"blocking\":true,\"kind\":\"kind é\",\"id\":\"id é\",\"name\":\"name é\",\"message\":\"message é\",\"remedy\":\"remedy é\",\"repair\":{\"key\":[{\"any\":[1,\"text\",true]}]}}]}}",
		true,
	},
}
