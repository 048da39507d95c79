// Generated from schemas/api/operations.tsv by `npm run generate`. Do not edit.

import type * as A from './answers.ts';
import type * as B from './bodies.ts';

/** `Answer` is the data within the envelope, an item of a page, or the whole body, by `Kind`. */
export interface Operation<Body, Kind extends AnswerKind, Answer> {
  readonly body: Body;
  readonly kind: Kind;
  readonly answer: Answer;
}

/** As in ApiAnswer; `other` if the answer is never JSON. */
export type AnswerKind = 'none' | 'data' | 'page' | 'bare' | 'other';

/** By API and id. */
export interface Operations {
  readonly management: {
    readonly listRoot: Operation<undefined, 'data', A.Version>;
    readonly listWellKnownCas: Operation<undefined, 'other', never>;
    readonly listAPISessions: Operation<undefined, 'page', A.ApiSessionDetail>;
    readonly deleteAPISessions: Operation<undefined, 'none', never>;
    readonly detailAPISessions: Operation<undefined, 'data', A.ApiSessionDetail>;
    readonly listAuthPolicies: Operation<undefined, 'page', A.AuthPolicyDetail>;
    readonly createAuthPolicy: Operation<B.AuthPolicyCreate, 'data', A.CreateLocation>;
    readonly deleteAuthPolicy: Operation<undefined, 'none', never>;
    readonly detailAuthPolicy: Operation<undefined, 'data', A.AuthPolicyDetail>;
    readonly patchAuthPolicy: Operation<B.AuthPolicyPatch, 'none', never>;
    readonly updateAuthPolicy: Operation<B.AuthPolicyUpdate, 'none', never>;
    readonly authenticate: Operation<B.Authenticate | undefined, 'data', A.CurrentApiSessionDetail>;
    readonly authenticateMfa: Operation<B.MfaCode, 'none', never>;
    readonly listAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail>;
    readonly createAuthenticator: Operation<B.AuthenticatorCreate, 'data', A.CreateLocation>;
    readonly deleteAuthenticator: Operation<undefined, 'none', never>;
    readonly detailAuthenticator: Operation<undefined, 'data', A.AuthenticatorDetail>;
    readonly patchAuthenticator: Operation<B.AuthenticatorPatch, 'none', never>;
    readonly updateAuthenticator: Operation<B.AuthenticatorUpdate, 'none', never>;
    readonly reEnrollAuthenticator: Operation<B.ReEnroll, 'data', A.CreateLocation>;
    readonly requestExtendAuthenticator: Operation<B.RequestExtendAuthenticator, 'none', never>;
    readonly listCas: Operation<undefined, 'page', A.CaDetail>;
    readonly createCa: Operation<B.CaCreate, 'data', A.CreateLocation>;
    readonly deleteCa: Operation<undefined, 'none', never>;
    readonly detailCa: Operation<undefined, 'data', A.CaDetail>;
    readonly patchCa: Operation<B.CaPatch, 'none', never>;
    readonly updateCa: Operation<B.CaUpdate, 'none', never>;
    readonly getCaJwt: Operation<undefined, 'other', never>;
    readonly verifyCa: Operation<unknown, 'none', never>;
    readonly listConfigTypes: Operation<undefined, 'page', A.ConfigTypeDetail>;
    readonly createConfigType: Operation<B.ConfigTypeCreate, 'data', A.CreateLocation>;
    readonly deleteConfigType: Operation<undefined, 'none', never>;
    readonly detailConfigType: Operation<undefined, 'data', A.ConfigTypeDetail>;
    readonly patchConfigType: Operation<B.ConfigTypePatch, 'none', never>;
    readonly updateConfigType: Operation<B.ConfigTypeUpdate, 'none', never>;
    readonly listConfigsForConfigType: Operation<undefined, 'page', A.ConfigDetail>;
    readonly listConfigs: Operation<undefined, 'page', A.ConfigDetail>;
    readonly createConfig: Operation<B.ConfigCreate, 'data', A.CreateLocation>;
    readonly deleteConfig: Operation<undefined, 'none', never>;
    readonly detailConfig: Operation<undefined, 'data', A.ConfigDetail>;
    readonly patchConfig: Operation<B.ConfigPatch, 'none', never>;
    readonly updateConfig: Operation<B.ConfigUpdate, 'none', never>;
    readonly listConfigServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly listControllerSettings: Operation<undefined, 'bare', A.NotServed>;
    readonly createControllerSetting: Operation<B.ControllerSettingCreate, 'bare', A.NotServed>;
    readonly detailControllerSetting: Operation<undefined, 'bare', A.NotServed>;
    readonly deleteControllerSetting: Operation<undefined, 'bare', A.NotServed>;
    readonly detailControllerSettingEffective: Operation<undefined, 'bare', A.NotServed>;
    readonly patchControllerSetting: Operation<B.ControllerSettingPatch, 'bare', A.NotServed>;
    readonly updateControllerSetting: Operation<B.ControllerSettingUpdate, 'bare', A.NotServed>;
    readonly listControllers: Operation<undefined, 'page', A.ControllerDetail>;
    readonly deleteCurrentAPISession: Operation<undefined, 'none', never>;
    readonly getCurrentAPISession: Operation<undefined, 'data', A.CurrentApiSessionDetail>;
    readonly createTotpToken: Operation<B.MfaCode, 'data', A.TotpToken>;
    readonly getCurrentIdentity: Operation<undefined, 'data', A.IdentityDetail>;
    readonly listCurrentIdentityAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail>;
    readonly detailCurrentIdentityAuthenticator: Operation<undefined, 'data', A.AuthenticatorDetail>;
    readonly patchCurrentIdentityAuthenticator: Operation<B.AuthenticatorPatchWithCurrent, 'none', never>;
    readonly updateCurrentIdentityAuthenticator: Operation<B.AuthenticatorUpdateWithCurrent, 'none', never>;
    readonly extendCurrentIdentityAuthenticator: Operation<B.IdentityExtendEnrollmentRequest, 'data', A.IdentityExtendCerts>;
    readonly extendVerifyCurrentIdentityAuthenticator: Operation<B.IdentityExtendValidateEnrollmentRequest, 'none', never>;
    readonly deleteMfa: Operation<undefined, 'none', never>;
    readonly detailMfa: Operation<undefined, 'data', A.DetailMfa>;
    readonly enrollMfa: Operation<undefined, 'data', A.CreateLocation>;
    readonly detailMfaQrCode: Operation<undefined, 'other', never>;
    readonly detailMfaRecoveryCodes: Operation<B.MfaCode | undefined, 'data', A.DetailMfaRecoveryCodes>;
    readonly createMfaRecoveryCodes: Operation<B.MfaCode, 'none', never>;
    readonly verifyMfa: Operation<B.MfaCode, 'none', never>;
    readonly checkDataIntegrity: Operation<undefined, 'none', never>;
    readonly dataIntegrityResults: Operation<undefined, 'data', A.DataIntegrityCheckDetails>;
    readonly fixDataIntegrity: Operation<undefined, 'none', never>;
    readonly createDatabaseSnapshot: Operation<undefined, 'none', never>;
    readonly listEdgeRouterPolicies: Operation<undefined, 'page', A.EdgeRouterPolicyDetail>;
    readonly createEdgeRouterPolicy: Operation<B.EdgeRouterPolicyCreate, 'data', A.CreateLocation>;
    readonly deleteEdgeRouterPolicy: Operation<undefined, 'none', never>;
    readonly detailEdgeRouterPolicy: Operation<undefined, 'data', A.EdgeRouterPolicyDetail>;
    readonly patchEdgeRouterPolicy: Operation<B.EdgeRouterPolicyPatch, 'none', never>;
    readonly updateEdgeRouterPolicy: Operation<B.EdgeRouterPolicyUpdate, 'none', never>;
    readonly listEdgeRouterPolicyEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail>;
    readonly listEdgeRouterPolicyIdentities: Operation<undefined, 'page', A.IdentityDetail>;
    readonly listEdgeRouterRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage>;
    readonly listEdgeRouterRoleAttributes: Operation<undefined, 'page', A.RoleAttribute>;
    readonly listEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail>;
    readonly createEdgeRouter: Operation<B.EdgeRouterCreate, 'data', A.CreateLocation>;
    readonly deleteEdgeRouter: Operation<undefined, 'none', never>;
    readonly detailEdgeRouter: Operation<undefined, 'data', A.EdgeRouterDetail>;
    readonly patchEdgeRouter: Operation<B.EdgeRouterPatch, 'none', never>;
    readonly updateEdgeRouter: Operation<B.EdgeRouterUpdate, 'none', never>;
    readonly listEdgeRouterEdgeRouterPolicies: Operation<undefined, 'page', A.EdgeRouterPolicyDetail>;
    readonly listEdgeRouterIdentities: Operation<undefined, 'page', A.IdentityDetail>;
    readonly reEnrollEdgeRouter: Operation<undefined, 'none', never>;
    readonly listEdgeRouterServiceEdgeRouterPolicies: Operation<undefined, 'page', A.ServiceEdgeRouterPolicyDetail>;
    readonly listEdgeRouterServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly listEnrollments: Operation<undefined, 'page', A.EnrollmentDetail>;
    readonly createEnrollment: Operation<B.EnrollmentCreate, 'data', A.CreateLocation>;
    readonly deleteEnrollment: Operation<undefined, 'none', never>;
    readonly detailEnrollment: Operation<undefined, 'data', A.EnrollmentDetail>;
    readonly refreshEnrollment: Operation<B.EnrollmentRefresh, 'data', A.CreateLocation>;
    readonly listEnumeratedCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listEnumeratedRouterCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listExternalJwtSigners: Operation<undefined, 'page', A.ExternalJwtSignerDetail>;
    readonly createExternalJwtSigner: Operation<B.ExternalJwtSignerCreate, 'data', A.CreateLocation>;
    readonly deleteExternalJwtSigner: Operation<undefined, 'none', never>;
    readonly detailExternalJwtSigner: Operation<undefined, 'data', A.ExternalJwtSignerDetail>;
    readonly patchExternalJwtSigner: Operation<B.ExternalJwtSignerPatch, 'none', never>;
    readonly updateExternalJwtSigner: Operation<B.ExternalJwtSignerUpdate, 'none', never>;
    readonly listIdentities: Operation<undefined, 'page', A.IdentityDetail>;
    readonly createIdentity: Operation<B.IdentityCreate, 'data', A.CreateLocation>;
    readonly deleteIdentity: Operation<undefined, 'none', never>;
    readonly detailIdentity: Operation<undefined, 'data', A.IdentityDetail>;
    readonly patchIdentity: Operation<B.IdentityPatch, 'none', never>;
    readonly updateIdentity: Operation<B.IdentityUpdate, 'none', never>;
    readonly getIdentityAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail>;
    readonly disableIdentity: Operation<B.DisableParams, 'none', never>;
    readonly listIdentitysEdgeRouterPolicies: Operation<undefined, 'page', A.EdgeRouterPolicyDetail>;
    readonly listIdentityEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail>;
    readonly enableIdentity: Operation<undefined, 'none', never>;
    readonly getIdentityEnrollments: Operation<undefined, 'page', A.EnrollmentDetail>;
    readonly getIdentityFailedServiceRequests: Operation<undefined, 'data', A.FailedServiceRequestList>;
    readonly removeIdentityMfa: Operation<undefined, 'none', never>;
    readonly getIdentityPolicyAdvice: Operation<undefined, 'data', A.PolicyAdvice>;
    readonly getIdentityPostureData: Operation<undefined, 'data', A.PostureData>;
    readonly disassociateIdentitysServiceConfigs: Operation<B.ServiceConfigsAssignList | undefined, 'none', never>;
    readonly listIdentitysServiceConfigs: Operation<undefined, 'page', A.ServiceConfigDetail>;
    readonly associateIdentitysServiceConfigs: Operation<B.ServiceConfigsAssignList, 'none', never>;
    readonly listIdentityServicePolicies: Operation<undefined, 'page', A.ServicePolicyDetail>;
    readonly listIdentityServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly updateIdentityTracing: Operation<B.TraceSpec, 'data', A.TraceDetail>;
    readonly listIdentityRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage>;
    readonly listIdentityRoleAttributes: Operation<undefined, 'page', A.RoleAttribute>;
    readonly listIdentityTypes: Operation<undefined, 'page', A.IdentityTypeDetail>;
    readonly detailIdentityType: Operation<undefined, 'data', A.IdentityTypeDetail>;
    readonly listNetworkJWTs: Operation<undefined, 'data', A.NetworkJWTList>;
    readonly listPostureCheckRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage>;
    readonly listPostureCheckRoleAttributes: Operation<undefined, 'page', A.RoleAttribute>;
    readonly listPostureCheckTypes: Operation<undefined, 'page', A.PostureCheckTypeDetail>;
    readonly detailPostureCheckType: Operation<undefined, 'data', A.PostureCheckTypeDetail>;
    readonly listPostureChecks: Operation<undefined, 'page', A.PostureCheckDetail>;
    readonly createPostureCheck: Operation<B.PostureCheckCreate, 'data', A.CreateLocation>;
    readonly deletePostureCheck: Operation<undefined, 'none', never>;
    readonly detailPostureCheck: Operation<undefined, 'data', A.PostureCheckDetail>;
    readonly patchPostureCheck: Operation<B.PostureCheckPatch, 'none', never>;
    readonly updatePostureCheck: Operation<B.PostureCheckUpdate, 'none', never>;
    readonly listRevocations: Operation<undefined, 'page', A.RevocationDetail>;
    readonly createRevocation: Operation<B.RevocationCreate, 'data', A.CreateLocation>;
    readonly detailRevocation: Operation<undefined, 'data', A.RevocationDetail>;
    readonly listRouters: Operation<undefined, 'page', A.RouterDetail>;
    readonly createRouter: Operation<B.RouterCreate, 'data', A.CreateLocation>;
    readonly deleteRouter: Operation<undefined, 'none', never>;
    readonly detailRouter: Operation<undefined, 'data', A.RouterDetail>;
    readonly patchRouter: Operation<B.RouterPatch, 'none', never>;
    readonly updateRouter: Operation<B.RouterUpdate, 'none', never>;
    readonly listServiceEdgeRouterPolicies: Operation<undefined, 'page', A.ServiceEdgeRouterPolicyDetail>;
    readonly createServiceEdgeRouterPolicy: Operation<B.ServiceEdgeRouterPolicyCreate, 'data', A.CreateLocation>;
    readonly deleteServiceEdgeRouterPolicy: Operation<undefined, 'none', never>;
    readonly detailServiceEdgeRouterPolicy: Operation<undefined, 'data', A.ServiceEdgeRouterPolicyDetail>;
    readonly patchServiceEdgeRouterPolicy: Operation<B.ServiceEdgeRouterPolicyPatch, 'none', never>;
    readonly updateServiceEdgeRouterPolicy: Operation<B.ServiceEdgeRouterPolicyUpdate, 'none', never>;
    readonly listServiceEdgeRouterPolicyEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail>;
    readonly listServiceEdgeRouterPolicyServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly listServicePolicies: Operation<undefined, 'page', A.ServicePolicyDetail>;
    readonly createServicePolicy: Operation<B.ServicePolicyCreate, 'data', A.CreateLocation>;
    readonly deleteServicePolicy: Operation<undefined, 'none', never>;
    readonly detailServicePolicy: Operation<undefined, 'data', A.ServicePolicyDetail>;
    readonly patchServicePolicy: Operation<B.ServicePolicyPatch, 'none', never>;
    readonly updateServicePolicy: Operation<B.ServicePolicyUpdate, 'none', never>;
    readonly listServicePolicyIdentities: Operation<undefined, 'page', A.IdentityDetail>;
    readonly listServicePolicyPostureChecks: Operation<undefined, 'page', A.PostureCheckDetail>;
    readonly listServicePolicyServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly listServiceRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage>;
    readonly listServiceRoleAttributes: Operation<undefined, 'page', A.RoleAttribute>;
    readonly listServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly createService: Operation<B.ServiceCreate, 'data', A.CreateLocation>;
    readonly deleteService: Operation<undefined, 'none', never>;
    readonly detailService: Operation<undefined, 'data', A.ServiceDetail>;
    readonly patchService: Operation<B.ServicePatch, 'none', never>;
    readonly updateService: Operation<B.ServiceUpdate, 'none', never>;
    readonly listServiceConfig: Operation<undefined, 'page', A.ConfigDetail>;
    readonly listServiceEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail>;
    readonly listServiceIdentities: Operation<undefined, 'page', A.IdentityDetail>;
    readonly listServiceServiceEdgeRouterPolicies: Operation<undefined, 'page', A.ServiceEdgeRouterPolicyDetail>;
    readonly listServiceServicePolicies: Operation<undefined, 'page', A.ServicePolicyDetail>;
    readonly listServiceTerminators: Operation<undefined, 'page', A.TerminatorDetail>;
    readonly listSessions: Operation<undefined, 'page', A.SessionManagementDetail>;
    readonly deleteSession: Operation<undefined, 'none', never>;
    readonly detailSession: Operation<undefined, 'data', A.SessionManagementDetail>;
    readonly detailSessionRoutePath: Operation<undefined, 'data', A.SessionRoutePathDetail>;
    readonly listSpecs: Operation<undefined, 'data', A.SpecList>;
    readonly detailSpec: Operation<undefined, 'data', A.SpecDetail>;
    readonly detailSpecBody: Operation<undefined, 'data', A.Document>;
    readonly getSwagger: Operation<undefined, 'bare', A.Document>;
    readonly listSummary: Operation<undefined, 'data', A.ListSummaryCounts>;
    readonly listTerminators: Operation<undefined, 'page', A.TerminatorDetail>;
    readonly createTerminator: Operation<B.TerminatorCreate, 'data', A.CreateLocation>;
    readonly deleteTerminator: Operation<undefined, 'none', never>;
    readonly detailTerminator: Operation<undefined, 'data', A.TerminatorDetail>;
    readonly patchTerminator: Operation<B.TerminatorPatch, 'none', never>;
    readonly updateTerminator: Operation<B.TerminatorUpdate, 'none', never>;
    readonly listTransitRouters: Operation<undefined, 'page', A.RouterDetail>;
    readonly createTransitRouter: Operation<B.RouterCreate, 'data', A.CreateLocation>;
    readonly deleteTransitRouter: Operation<undefined, 'none', never>;
    readonly detailTransitRouter: Operation<undefined, 'data', A.RouterDetail>;
    readonly patchTransitRouter: Operation<B.RouterPatch, 'none', never>;
    readonly updateTransitRouter: Operation<B.RouterUpdate, 'none', never>;
    readonly listVersion: Operation<undefined, 'data', A.Version>;
  };
  readonly client: {
    readonly listRoot: Operation<undefined, 'data', A.Version>;
    readonly listWellKnownCas: Operation<undefined, 'other', never>;
    readonly authenticate: Operation<B.Authenticate | undefined, 'data', A.CurrentApiSessionDetail>;
    readonly authenticateMfa: Operation<B.MfaCode, 'none', never>;
    readonly listControllers: Operation<undefined, 'page', A.ControllerDetail>;
    readonly deleteCurrentAPISession: Operation<undefined, 'none', never>;
    readonly getCurrentAPISession: Operation<undefined, 'data', A.CurrentApiSessionDetail>;
    readonly listCurrentApiSessionCertificates: Operation<undefined, 'page', A.CurrentApiSessionCertificateDetail>;
    readonly createCurrentApiSessionCertificate: Operation<B.CurrentApiSessionCertificateCreate, 'data', A.CurrentApiSessionCertificateCreateResponse>;
    readonly deleteCurrentApiSessionCertificate: Operation<undefined, 'none', never>;
    readonly detailCurrentApiSessionCertificate: Operation<undefined, 'data', A.CurrentApiSessionCertificateDetail>;
    readonly listServiceUpdates: Operation<undefined, 'data', A.CurrentApiSessionServiceUpdateList>;
    readonly createTotpToken: Operation<B.MfaCode, 'data', A.TotpToken>;
    readonly getCurrentIdentity: Operation<undefined, 'data', A.IdentityDetail>;
    readonly listCurrentIdentityAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail>;
    readonly detailCurrentIdentityAuthenticator: Operation<undefined, 'data', A.AuthenticatorDetail>;
    readonly patchCurrentIdentityAuthenticator: Operation<B.AuthenticatorPatchWithCurrent, 'none', never>;
    readonly updateCurrentIdentityAuthenticator: Operation<B.AuthenticatorUpdateWithCurrent, 'none', never>;
    readonly extendCurrentIdentityAuthenticator: Operation<B.IdentityExtendEnrollmentRequest, 'data', A.IdentityExtendCerts>;
    readonly extendVerifyCurrentIdentityAuthenticator: Operation<B.IdentityExtendValidateEnrollmentRequest, 'none', never>;
    readonly getCurrentIdentityEdgeRouters: Operation<undefined, 'page', A.CurrentIdentityEdgeRouterDetail>;
    readonly deleteMfa: Operation<undefined, 'none', never>;
    readonly detailMfa: Operation<undefined, 'data', A.DetailMfa>;
    readonly enrollMfa: Operation<undefined, 'data', A.CreateLocation>;
    readonly detailMfaQrCode: Operation<undefined, 'other', never>;
    readonly detailMfaRecoveryCodes: Operation<B.MfaCode | undefined, 'data', A.DetailMfaRecoveryCodes>;
    readonly createMfaRecoveryCodes: Operation<B.MfaCode, 'none', never>;
    readonly verifyMfa: Operation<B.MfaCode, 'none', never>;
    readonly enroll: Operation<B.GenericEnroll | string | undefined, 'data', A.Enrolled>;
    readonly enrollCa: Operation<undefined, 'none', never>;
    readonly enrollmentChallenge: Operation<B.NonceChallenge, 'bare', A.NonceSignature>;
    readonly enrollErOtt: Operation<B.ErOttEnrollmentRequest, 'data', A.EnrollmentCerts>;
    readonly extendRouterEnrollment: Operation<B.RouterExtendEnrollmentRequest, 'data', A.EnrollmentCerts>;
    readonly getEnrollmentJwks: Operation<undefined, 'bare', A.Jwks>;
    readonly enrollOtt: Operation<B.OttEnrollmentRequest | string, 'data', A.Enrolled>;
    readonly enrollOttCa: Operation<B.OttEnrollmentRequest, 'data', A.Enrolled>;
    readonly enrollToken: Operation<B.TokenEnrollmentRequest, 'data', A.Enrolled>;
    readonly enrollUpdb: Operation<B.UpdbEnrollment, 'data', A.Enrolled>;
    readonly listEnumeratedCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listEnumeratedRouterCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listExternalJwtSigners: Operation<undefined, 'page', A.ClientExternalJwtSignerDetail>;
    readonly listNetworkJWTs: Operation<undefined, 'data', A.NetworkJWTList>;
    readonly createPostureResponse: Operation<B.PostureResponseCreate, 'data', A.PostureResponse>;
    readonly createPostureResponseBulk: Operation<B.PostureResponses, 'data', A.PostureResponse>;
    readonly listProtocols: Operation<undefined, 'data', A.ListProtocols>;
    readonly listServices: Operation<undefined, 'page', A.ServiceDetail>;
    readonly deleteService: Operation<undefined, 'bare', A.NotServed>;
    readonly detailService: Operation<undefined, 'data', A.ServiceDetail>;
    readonly patchService: Operation<B.ServicePatch, 'bare', A.NotServed>;
    readonly updateService: Operation<B.ServiceUpdate, 'bare', A.NotServed>;
    readonly listServiceEdgeRouters: Operation<undefined, 'data', A.ServiceEdgeRouters>;
    readonly listServiceTerminators: Operation<undefined, 'page', A.TerminatorClientDetail>;
    readonly listSessions: Operation<undefined, 'page', A.SessionDetail>;
    readonly createSession: Operation<B.SessionCreate, 'data', A.SessionCreated>;
    readonly deleteSession: Operation<undefined, 'none', never>;
    readonly detailSession: Operation<undefined, 'data', A.SessionDetail>;
    readonly listSpecs: Operation<undefined, 'data', A.SpecList>;
    readonly detailSpec: Operation<undefined, 'data', A.SpecDetail>;
    readonly detailSpecBody: Operation<undefined, 'data', A.Document>;
    readonly getSwagger: Operation<undefined, 'bare', A.Document>;
    readonly listVersion: Operation<undefined, 'data', A.Version>;
  };
  readonly fabric: {
    readonly listServices: Operation<undefined, 'page', A.FabricServiceDetail>;
    readonly createService: Operation<B.FabricServiceCreate, 'data', A.CreateLocation>;
    readonly detailService: Operation<undefined, 'data', A.FabricServiceDetail>;
    readonly updateService: Operation<B.FabricServiceUpdate, 'none', never>;
    readonly patchService: Operation<B.FabricServicePatch, 'none', never>;
    readonly deleteService: Operation<undefined, 'none', never>;
    readonly listServiceTerminators: Operation<undefined, 'page', A.FabricTerminatorDetail>;
    readonly listRouters: Operation<undefined, 'page', A.FabricRouterDetail>;
    readonly createRouter: Operation<B.FabricRouterCreate, 'data', A.CreateLocation>;
    readonly detailRouter: Operation<undefined, 'data', A.FabricRouterDetail>;
    readonly updateRouter: Operation<B.FabricRouterUpdate, 'none', never>;
    readonly patchRouter: Operation<B.FabricRouterPatch, 'none', never>;
    readonly deleteRouter: Operation<undefined, 'none', never>;
    readonly listRouterTerminators: Operation<undefined, 'page', A.FabricTerminatorDetail>;
    readonly listTerminators: Operation<undefined, 'page', A.FabricTerminatorDetail>;
    readonly createTerminator: Operation<B.FabricTerminatorCreate, 'data', A.CreateLocation>;
    readonly detailTerminator: Operation<undefined, 'data', A.FabricTerminatorDetail>;
    readonly updateTerminator: Operation<B.FabricTerminatorUpdate, 'none', never>;
    readonly patchTerminator: Operation<B.FabricTerminatorPatch, 'none', never>;
    readonly deleteTerminator: Operation<undefined, 'none', never>;
    readonly listLinks: Operation<undefined, 'page', A.LinkDetail>;
    readonly detailLink: Operation<undefined, 'data', A.LinkDetail>;
    readonly patchLink: Operation<B.LinkPatch, 'none', never>;
    readonly deleteLink: Operation<undefined, 'none', never>;
    readonly listCircuits: Operation<undefined, 'page', A.CircuitDetail>;
    readonly detailCircuit: Operation<undefined, 'data', A.CircuitDetail>;
    readonly deleteCircuit: Operation<B.CircuitDelete | undefined, 'none', never>;
    readonly inspect: Operation<B.InspectRequest, 'data', A.Any>;
    readonly createDatabaseSnapshot: Operation<undefined, 'none', never>;
    readonly createDatabaseSnapshotWithPath: Operation<B.DatabaseSnapshotCreate, 'data', A.DatabaseSnapshot>;
    readonly checkDataIntegrity: Operation<undefined, 'none', never>;
    readonly fixDataIntegrity: Operation<undefined, 'none', never>;
    readonly dataIntegrityResults: Operation<undefined, 'data', A.DataIntegrityCheckDetails>;
    readonly clusterListMembers: Operation<undefined, 'data', A.Any>;
    readonly clusterMemberAdd: Operation<B.ClusterMemberAdd, 'none', never>;
    readonly clusterMemberRemove: Operation<B.ClusterMemberRemove, 'none', never>;
    readonly clusterTransferLeadership: Operation<B.ClusterTransferLeadership, 'none', never>;
    readonly getSwagger: Operation<undefined, 'bare', A.Document>;
  };
  readonly lab: {
    readonly rejoinMember: Operation<undefined, 'none', never>;
    readonly detailClock: Operation<undefined, 'data', A.LabClock>;
    readonly patchClock: Operation<B.ClockPatch, 'data', A.LabClock>;
    readonly advanceClock: Operation<B.ClockAdvance, 'data', A.LabClock>;
    readonly authenticate: Operation<B.Authenticate | undefined, 'data', A.CurrentApiSessionDetail>;
    readonly deleteCurrentAPISession: Operation<undefined, 'none', never>;
    readonly clearFaults: Operation<undefined, 'none', never>;
    readonly listFaults: Operation<undefined, 'data', A.LabFaults>;
    readonly createFault: Operation<B.FaultCreate, 'data', A.LabFault>;
    readonly deleteFault: Operation<undefined, 'none', never>;
    readonly clearJournal: Operation<undefined, 'none', never>;
    readonly listJournal: Operation<undefined, 'data', A.LabJournal>;
    readonly enrollIdentity: Operation<B.LabIdentityCreate | undefined, 'data', A.LabIdentityFile>;
    readonly createLabService: Operation<B.LabServiceCreate, 'data', A.LabService>;
    readonly detailToken: Operation<undefined, 'data', A.LabToken>;
    readonly detailNetwork: Operation<undefined, 'data', A.LabTopology>;
    readonly disconnectRouter: Operation<undefined, 'none', never>;
    readonly listSnapshots: Operation<undefined, 'data', A.LabSnapshots>;
    readonly createSnapshot: Operation<B.SnapshotCreate, 'data', A.LabSnapshot>;
    readonly deleteSnapshot: Operation<undefined, 'none', never>;
    readonly restoreSnapshot: Operation<B.LabRestore | undefined, 'data', A.LabRestored>;
    readonly reset: Operation<B.LabRestore | undefined, 'data', A.LabRestored>;
    readonly seed: Operation<B.Seed | string, 'data', A.LabSeeded>;
    readonly exportNetwork: Operation<undefined, 'data', A.LabNetwork>;
    readonly why: Operation<B.WhyQuestion, 'data', A.LabWhy>;
    readonly getSwagger: Operation<undefined, 'other', never>;
  };
}

/** Each is unique within its API. */
export type OperationId = { [Api in keyof Operations]: keyof Operations[Api] }[keyof Operations];

/** Who may call an operation; `operations.ts` explains them. */
export type AccessLevel =
  | 'admin'
  | 'admin.read'
  | 'auth-policy.create'
  | 'auth-policy.delete'
  | 'auth-policy.read'
  | 'auth-policy.update'
  | 'authenticator.read'
  | 'ca.create'
  | 'ca.delete'
  | 'ca.read'
  | 'ca.update'
  | 'config-type.create'
  | 'config-type.delete'
  | 'config-type.read'
  | 'config-type.update'
  | 'config.create'
  | 'config.delete'
  | 'config.read'
  | 'config.update'
  | 'controllers.read'
  | 'edge-router-policy.create'
  | 'edge-router-policy.delete'
  | 'edge-router-policy.read'
  | 'edge-router-policy.update'
  | 'enrollment.create'
  | 'enrollment.delete'
  | 'enrollment.read'
  | 'enrollment.update'
  | 'external-jwt-signer.create'
  | 'external-jwt-signer.delete'
  | 'external-jwt-signer.read'
  | 'external-jwt-signer.update'
  | 'identity.create'
  | 'identity.delete'
  | 'identity.read'
  | 'identity.update'
  | 'none'
  | 'ops'
  | 'ops.delete'
  | 'ops.read'
  | 'ops.update'
  | 'partial'
  | 'posture-check.create'
  | 'posture-check.delete'
  | 'posture-check.read'
  | 'posture-check.update'
  | 'revocation.create'
  | 'revocation.read'
  | 'router.create'
  | 'router.delete'
  | 'router.read'
  | 'router.update'
  | 'service-edge-router-policy.create'
  | 'service-edge-router-policy.delete'
  | 'service-edge-router-policy.read'
  | 'service-edge-router-policy.update'
  | 'service-policy.create'
  | 'service-policy.delete'
  | 'service-policy.read'
  | 'service-policy.update'
  | 'service.create'
  | 'service.delete'
  | 'service.read'
  | 'service.update'
  | 'session'
  | 'terminator.create'
  | 'terminator.delete'
  | 'terminator.read'
  | 'terminator.update';
