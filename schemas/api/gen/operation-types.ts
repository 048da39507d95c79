// Generated from schemas/api/operations.tsv and schemas/lab by `npm run generate`. Do not edit.

import type * as A from './answers.ts';
import type * as B from './bodies.ts';

/**
 * `Answer` is the data within the envelope, an item of a page, or the whole body, by `Kind`. `Params` has the names of the path's
 * parameters, `Query` those of the query.
 */
export interface Operation<Body, Kind extends AnswerKind, Answer, Params extends string = never, Query extends string = never> {
  readonly body: Body;
  readonly kind: Kind;
  readonly answer: Answer;
  readonly params: Params;
  readonly query: Query;
}

/** As in ApiAnswer; `other` if the answer is never JSON. */
export type AnswerKind = 'none' | 'data' | 'page' | 'bare' | 'other';

/** By API and id. */
export interface Operations {
  readonly management: {
    readonly listRoot: Operation<undefined, 'data', A.Version>;
    readonly listWellKnownCas: Operation<undefined, 'other', never>;
    readonly listAPISessions: Operation<undefined, 'page', A.ApiSessionDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly deleteAPISessions: Operation<undefined, 'none', never, 'id'>;
    readonly detailAPISessions: Operation<undefined, 'data', A.ApiSessionDetail, 'id'>;
    readonly listAuthPolicies: Operation<undefined, 'page', A.AuthPolicyDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createAuthPolicy: Operation<B.AuthPolicyCreate, 'data', A.CreateLocation>;
    readonly deleteAuthPolicy: Operation<undefined, 'none', never, 'id'>;
    readonly detailAuthPolicy: Operation<undefined, 'data', A.AuthPolicyDetail, 'id'>;
    readonly patchAuthPolicy: Operation<B.AuthPolicyPatch, 'none', never, 'id'>;
    readonly updateAuthPolicy: Operation<B.AuthPolicyUpdate, 'none', never, 'id'>;
    readonly authenticate: Operation<B.Authenticate | undefined, 'data', A.CurrentApiSessionDetail, never, 'method'>;
    readonly authenticateMfa: Operation<B.MfaCode, 'none', never>;
    readonly listAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createAuthenticator: Operation<B.AuthenticatorCreate, 'data', A.CreateLocation>;
    readonly deleteAuthenticator: Operation<undefined, 'none', never, 'id'>;
    readonly detailAuthenticator: Operation<undefined, 'data', A.AuthenticatorDetail, 'id'>;
    readonly patchAuthenticator: Operation<B.AuthenticatorPatch, 'none', never, 'id'>;
    readonly updateAuthenticator: Operation<B.AuthenticatorUpdate, 'none', never, 'id'>;
    readonly reEnrollAuthenticator: Operation<B.ReEnroll, 'data', A.CreateLocation, 'id'>;
    readonly requestExtendAuthenticator: Operation<B.RequestExtendAuthenticator, 'none', never, 'id'>;
    readonly listCas: Operation<undefined, 'page', A.CaDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createCa: Operation<B.CaCreate, 'data', A.CreateLocation>;
    readonly deleteCa: Operation<undefined, 'none', never, 'id'>;
    readonly detailCa: Operation<undefined, 'data', A.CaDetail, 'id'>;
    readonly patchCa: Operation<B.CaPatch, 'none', never, 'id'>;
    readonly updateCa: Operation<B.CaUpdate, 'none', never, 'id'>;
    readonly getCaJwt: Operation<undefined, 'other', never, 'id'>;
    readonly verifyCa: Operation<unknown, 'none', never, 'id'>;
    readonly listConfigTypes: Operation<undefined, 'page', A.ConfigTypeDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createConfigType: Operation<B.ConfigTypeCreate, 'data', A.CreateLocation>;
    readonly deleteConfigType: Operation<undefined, 'none', never, 'id'>;
    readonly detailConfigType: Operation<undefined, 'data', A.ConfigTypeDetail, 'id'>;
    readonly patchConfigType: Operation<B.ConfigTypePatch, 'none', never, 'id'>;
    readonly updateConfigType: Operation<B.ConfigTypeUpdate, 'none', never, 'id'>;
    readonly listConfigsForConfigType: Operation<undefined, 'page', A.ConfigDetail, 'id'>;
    readonly listConfigs: Operation<undefined, 'page', A.ConfigDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createConfig: Operation<B.ConfigCreate, 'data', A.CreateLocation>;
    readonly deleteConfig: Operation<undefined, 'none', never, 'id'>;
    readonly detailConfig: Operation<undefined, 'data', A.ConfigDetail, 'id'>;
    readonly patchConfig: Operation<B.ConfigPatch, 'none', never, 'id'>;
    readonly updateConfig: Operation<B.ConfigUpdate, 'none', never, 'id'>;
    readonly listConfigServices: Operation<undefined, 'page', A.ServiceDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listControllerSettings: Operation<undefined, 'bare', A.NotServed, never, 'filter' | 'limit' | 'offset'>;
    readonly createControllerSetting: Operation<B.ControllerSettingCreate, 'bare', A.NotServed>;
    readonly detailControllerSetting: Operation<undefined, 'bare', A.NotServed, 'id'>;
    readonly deleteControllerSetting: Operation<undefined, 'bare', A.NotServed, 'id'>;
    readonly detailControllerSettingEffective: Operation<undefined, 'bare', A.NotServed, 'id'>;
    readonly patchControllerSetting: Operation<B.ControllerSettingPatch, 'bare', A.NotServed, 'id'>;
    readonly updateControllerSetting: Operation<B.ControllerSettingUpdate, 'bare', A.NotServed, 'id'>;
    readonly listControllers: Operation<undefined, 'page', A.ControllerDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly deleteCurrentAPISession: Operation<undefined, 'none', never>;
    readonly getCurrentAPISession: Operation<undefined, 'data', A.CurrentApiSessionDetail>;
    readonly createTotpToken: Operation<B.MfaCode, 'data', A.TotpToken>;
    readonly getCurrentIdentity: Operation<undefined, 'data', A.IdentityDetail>;
    readonly listCurrentIdentityAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly detailCurrentIdentityAuthenticator: Operation<undefined, 'data', A.AuthenticatorDetail, 'id'>;
    readonly patchCurrentIdentityAuthenticator: Operation<B.AuthenticatorPatchWithCurrent, 'none', never, 'id'>;
    readonly updateCurrentIdentityAuthenticator: Operation<B.AuthenticatorUpdateWithCurrent, 'none', never, 'id'>;
    readonly extendCurrentIdentityAuthenticator: Operation<B.IdentityExtendEnrollmentRequest, 'data', A.IdentityExtendCerts, 'id'>;
    readonly extendVerifyCurrentIdentityAuthenticator: Operation<B.IdentityExtendValidateEnrollmentRequest, 'none', never, 'id'>;
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
    readonly listEdgeRouterPolicies: Operation<undefined, 'page', A.EdgeRouterPolicyDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createEdgeRouterPolicy: Operation<B.EdgeRouterPolicyCreate, 'data', A.CreateLocation>;
    readonly deleteEdgeRouterPolicy: Operation<undefined, 'none', never, 'id'>;
    readonly detailEdgeRouterPolicy: Operation<undefined, 'data', A.EdgeRouterPolicyDetail, 'id'>;
    readonly patchEdgeRouterPolicy: Operation<B.EdgeRouterPolicyPatch, 'none', never, 'id'>;
    readonly updateEdgeRouterPolicy: Operation<B.EdgeRouterPolicyUpdate, 'none', never, 'id'>;
    readonly listEdgeRouterPolicyEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail, 'id'>;
    readonly listEdgeRouterPolicyIdentities: Operation<undefined, 'page', A.IdentityDetail, 'id'>;
    readonly listEdgeRouterRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage, never, 'filter' | 'limit' | 'offset' | 'withIds'>;
    readonly listEdgeRouterRoleAttributes: Operation<undefined, 'page', A.RoleAttribute, never, 'filter' | 'limit' | 'offset'>;
    readonly listEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail, never, 'filter' | 'limit' | 'offset' | 'roleFilter' | 'roleSemantic'>;
    readonly createEdgeRouter: Operation<B.EdgeRouterCreate, 'data', A.CreateLocation>;
    readonly deleteEdgeRouter: Operation<undefined, 'none', never, 'id'>;
    readonly detailEdgeRouter: Operation<undefined, 'data', A.EdgeRouterDetail, 'id'>;
    readonly patchEdgeRouter: Operation<B.EdgeRouterPatch, 'none', never, 'id'>;
    readonly updateEdgeRouter: Operation<B.EdgeRouterUpdate, 'none', never, 'id'>;
    readonly listEdgeRouterEdgeRouterPolicies: Operation<undefined, 'page', A.EdgeRouterPolicyDetail, 'id'>;
    readonly listEdgeRouterIdentities: Operation<undefined, 'page', A.IdentityDetail, 'id'>;
    readonly reEnrollEdgeRouter: Operation<undefined, 'none', never, 'id'>;
    readonly listEdgeRouterServiceEdgeRouterPolicies: Operation<undefined, 'page', A.ServiceEdgeRouterPolicyDetail, 'id'>;
    readonly listEdgeRouterServices: Operation<undefined, 'page', A.ServiceDetail, 'id'>;
    readonly listEnrollments: Operation<undefined, 'page', A.EnrollmentDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createEnrollment: Operation<B.EnrollmentCreate, 'data', A.CreateLocation>;
    readonly deleteEnrollment: Operation<undefined, 'none', never, 'id'>;
    readonly detailEnrollment: Operation<undefined, 'data', A.EnrollmentDetail, 'id'>;
    readonly refreshEnrollment: Operation<B.EnrollmentRefresh, 'data', A.CreateLocation, 'id'>;
    readonly listEnumeratedCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listEnumeratedRouterCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listExternalJwtSigners: Operation<undefined, 'page', A.ExternalJwtSignerDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createExternalJwtSigner: Operation<B.ExternalJwtSignerCreate, 'data', A.CreateLocation>;
    readonly deleteExternalJwtSigner: Operation<undefined, 'none', never, 'id'>;
    readonly detailExternalJwtSigner: Operation<undefined, 'data', A.ExternalJwtSignerDetail, 'id'>;
    readonly patchExternalJwtSigner: Operation<B.ExternalJwtSignerPatch, 'none', never, 'id'>;
    readonly updateExternalJwtSigner: Operation<B.ExternalJwtSignerUpdate, 'none', never, 'id'>;
    readonly listIdentities: Operation<undefined, 'page', A.IdentityDetail, never, 'filter' | 'limit' | 'offset' | 'roleFilter' | 'roleSemantic'>;
    readonly createIdentity: Operation<B.IdentityCreate, 'data', A.CreateLocation>;
    readonly deleteIdentity: Operation<undefined, 'none', never, 'id'>;
    readonly detailIdentity: Operation<undefined, 'data', A.IdentityDetail, 'id'>;
    readonly patchIdentity: Operation<B.IdentityPatch, 'none', never, 'id'>;
    readonly updateIdentity: Operation<B.IdentityUpdate, 'none', never, 'id'>;
    readonly getIdentityAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail, 'id'>;
    readonly disableIdentity: Operation<B.DisableParams, 'none', never, 'id'>;
    readonly listIdentitysEdgeRouterPolicies: Operation<undefined, 'page', A.EdgeRouterPolicyDetail, 'id'>;
    readonly listIdentityEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail, 'id'>;
    readonly enableIdentity: Operation<undefined, 'none', never, 'id'>;
    readonly getIdentityEnrollments: Operation<undefined, 'page', A.EnrollmentDetail, 'id'>;
    readonly getIdentityFailedServiceRequests: Operation<undefined, 'data', A.FailedServiceRequestList, 'id'>;
    readonly removeIdentityMfa: Operation<undefined, 'none', never, 'id'>;
    readonly getIdentityPolicyAdvice: Operation<undefined, 'data', A.PolicyAdvice, 'id' | 'serviceId'>;
    readonly getIdentityPostureData: Operation<undefined, 'data', A.PostureData, 'id'>;
    readonly disassociateIdentitysServiceConfigs: Operation<B.ServiceConfigsAssignList | undefined, 'none', never, 'id'>;
    readonly listIdentitysServiceConfigs: Operation<undefined, 'page', A.ServiceConfigDetail, 'id'>;
    readonly associateIdentitysServiceConfigs: Operation<B.ServiceConfigsAssignList, 'none', never, 'id'>;
    readonly listIdentityServicePolicies: Operation<undefined, 'page', A.ServicePolicyDetail, 'id'>;
    readonly listIdentityServices: Operation<undefined, 'page', A.ServiceDetail, 'id', 'filter' | 'policyType'>;
    readonly updateIdentityTracing: Operation<B.TraceSpec, 'data', A.TraceDetail, 'id'>;
    readonly listIdentityRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage, never, 'filter' | 'limit' | 'offset' | 'withIds'>;
    readonly listIdentityRoleAttributes: Operation<undefined, 'page', A.RoleAttribute, never, 'filter' | 'limit' | 'offset'>;
    readonly listIdentityTypes: Operation<undefined, 'page', A.IdentityTypeDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly detailIdentityType: Operation<undefined, 'data', A.IdentityTypeDetail, 'id'>;
    readonly listNetworkJWTs: Operation<undefined, 'data', A.NetworkJWTList>;
    readonly listPostureCheckRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage, never, 'filter' | 'limit' | 'offset' | 'withIds'>;
    readonly listPostureCheckRoleAttributes: Operation<undefined, 'page', A.RoleAttribute, never, 'filter' | 'limit' | 'offset'>;
    readonly listPostureCheckTypes: Operation<undefined, 'page', A.PostureCheckTypeDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly detailPostureCheckType: Operation<undefined, 'data', A.PostureCheckTypeDetail, 'id'>;
    readonly listPostureChecks: Operation<undefined, 'page', A.PostureCheckDetail, never, 'filter' | 'limit' | 'offset' | 'roleFilter' | 'roleSemantic'>;
    readonly createPostureCheck: Operation<B.PostureCheckCreate, 'data', A.CreateLocation>;
    readonly deletePostureCheck: Operation<undefined, 'none', never, 'id'>;
    readonly detailPostureCheck: Operation<undefined, 'data', A.PostureCheckDetail, 'id'>;
    readonly patchPostureCheck: Operation<B.PostureCheckPatch, 'none', never, 'id'>;
    readonly updatePostureCheck: Operation<B.PostureCheckUpdate, 'none', never, 'id'>;
    readonly listRevocations: Operation<undefined, 'page', A.RevocationDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createRevocation: Operation<B.RevocationCreate, 'data', A.CreateLocation>;
    readonly detailRevocation: Operation<undefined, 'data', A.RevocationDetail, 'id'>;
    readonly listRouters: Operation<undefined, 'page', A.RouterDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createRouter: Operation<B.RouterCreate, 'data', A.CreateLocation>;
    readonly deleteRouter: Operation<undefined, 'none', never, 'id'>;
    readonly detailRouter: Operation<undefined, 'data', A.RouterDetail, 'id'>;
    readonly patchRouter: Operation<B.RouterPatch, 'none', never, 'id'>;
    readonly updateRouter: Operation<B.RouterUpdate, 'none', never, 'id'>;
    readonly listServiceEdgeRouterPolicies: Operation<undefined, 'page', A.ServiceEdgeRouterPolicyDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createServiceEdgeRouterPolicy: Operation<B.ServiceEdgeRouterPolicyCreate, 'data', A.CreateLocation>;
    readonly deleteServiceEdgeRouterPolicy: Operation<undefined, 'none', never, 'id'>;
    readonly detailServiceEdgeRouterPolicy: Operation<undefined, 'data', A.ServiceEdgeRouterPolicyDetail, 'id'>;
    readonly patchServiceEdgeRouterPolicy: Operation<B.ServiceEdgeRouterPolicyPatch, 'none', never, 'id'>;
    readonly updateServiceEdgeRouterPolicy: Operation<B.ServiceEdgeRouterPolicyUpdate, 'none', never, 'id'>;
    readonly listServiceEdgeRouterPolicyEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail, 'id'>;
    readonly listServiceEdgeRouterPolicyServices: Operation<undefined, 'page', A.ServiceDetail, 'id'>;
    readonly listServicePolicies: Operation<undefined, 'page', A.ServicePolicyDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createServicePolicy: Operation<B.ServicePolicyCreate, 'data', A.CreateLocation>;
    readonly deleteServicePolicy: Operation<undefined, 'none', never, 'id'>;
    readonly detailServicePolicy: Operation<undefined, 'data', A.ServicePolicyDetail, 'id'>;
    readonly patchServicePolicy: Operation<B.ServicePolicyPatch, 'none', never, 'id'>;
    readonly updateServicePolicy: Operation<B.ServicePolicyUpdate, 'none', never, 'id'>;
    readonly listServicePolicyIdentities: Operation<undefined, 'page', A.IdentityDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServicePolicyPostureChecks: Operation<undefined, 'page', A.PostureCheckDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServicePolicyServices: Operation<undefined, 'page', A.ServiceDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServiceRoleAttributeUsage: Operation<undefined, 'page', A.RoleAttributeUsage, never, 'filter' | 'limit' | 'offset' | 'withIds'>;
    readonly listServiceRoleAttributes: Operation<undefined, 'page', A.RoleAttribute, never, 'filter' | 'limit' | 'offset'>;
    readonly listServices: Operation<undefined, 'page', A.ServiceDetail, never, 'configTypes' | 'filter' | 'limit' | 'offset' | 'roleFilter' | 'roleSemantic'>;
    readonly createService: Operation<B.ServiceCreate, 'data', A.CreateLocation>;
    readonly deleteService: Operation<undefined, 'none', never, 'id'>;
    readonly detailService: Operation<undefined, 'data', A.ServiceDetail, 'id'>;
    readonly patchService: Operation<B.ServicePatch, 'none', never, 'id'>;
    readonly updateService: Operation<B.ServiceUpdate, 'none', never, 'id'>;
    readonly listServiceConfig: Operation<undefined, 'page', A.ConfigDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServiceEdgeRouters: Operation<undefined, 'page', A.EdgeRouterDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServiceIdentities: Operation<undefined, 'page', A.IdentityDetail, 'id', 'filter' | 'limit' | 'offset' | 'policyType'>;
    readonly listServiceServiceEdgeRouterPolicies: Operation<undefined, 'page', A.ServiceEdgeRouterPolicyDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServiceServicePolicies: Operation<undefined, 'page', A.ServicePolicyDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServiceTerminators: Operation<undefined, 'page', A.TerminatorDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listSessions: Operation<undefined, 'page', A.SessionManagementDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly deleteSession: Operation<undefined, 'none', never, 'id'>;
    readonly detailSession: Operation<undefined, 'data', A.SessionManagementDetail, 'id'>;
    readonly detailSessionRoutePath: Operation<undefined, 'data', A.SessionRoutePathDetail, 'id'>;
    readonly listSpecs: Operation<undefined, 'data', A.SpecList>;
    readonly detailSpec: Operation<undefined, 'data', A.SpecDetail, 'id'>;
    readonly detailSpecBody: Operation<undefined, 'data', A.Document, 'id'>;
    readonly getSwagger: Operation<undefined, 'bare', A.Document>;
    readonly listSummary: Operation<undefined, 'data', A.ListSummaryCounts>;
    readonly listTerminators: Operation<undefined, 'page', A.TerminatorDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createTerminator: Operation<B.TerminatorCreate, 'data', A.CreateLocation>;
    readonly deleteTerminator: Operation<undefined, 'none', never, 'id'>;
    readonly detailTerminator: Operation<undefined, 'data', A.TerminatorDetail, 'id'>;
    readonly patchTerminator: Operation<B.TerminatorPatch, 'none', never, 'id'>;
    readonly updateTerminator: Operation<B.TerminatorUpdate, 'none', never, 'id'>;
    readonly listTransitRouters: Operation<undefined, 'page', A.RouterDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createTransitRouter: Operation<B.RouterCreate, 'data', A.CreateLocation>;
    readonly deleteTransitRouter: Operation<undefined, 'none', never, 'id'>;
    readonly detailTransitRouter: Operation<undefined, 'data', A.RouterDetail, 'id'>;
    readonly patchTransitRouter: Operation<B.RouterPatch, 'none', never, 'id'>;
    readonly updateTransitRouter: Operation<B.RouterUpdate, 'none', never, 'id'>;
    readonly listVersion: Operation<undefined, 'data', A.Version>;
  };
  readonly client: {
    readonly listRoot: Operation<undefined, 'data', A.Version>;
    readonly listWellKnownCas: Operation<undefined, 'other', never>;
    readonly authenticate: Operation<B.Authenticate | undefined, 'data', A.CurrentApiSessionDetail, never, 'method'>;
    readonly authenticateMfa: Operation<B.MfaCode, 'none', never>;
    readonly listControllers: Operation<undefined, 'page', A.ControllerDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly deleteCurrentAPISession: Operation<undefined, 'none', never>;
    readonly getCurrentAPISession: Operation<undefined, 'data', A.CurrentApiSessionDetail>;
    readonly listCurrentApiSessionCertificates: Operation<undefined, 'page', A.CurrentApiSessionCertificateDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createCurrentApiSessionCertificate: Operation<B.CurrentApiSessionCertificateCreate, 'data', A.CurrentApiSessionCertificateCreateResponse>;
    readonly deleteCurrentApiSessionCertificate: Operation<undefined, 'none', never, 'id'>;
    readonly detailCurrentApiSessionCertificate: Operation<undefined, 'data', A.CurrentApiSessionCertificateDetail, 'id'>;
    readonly listServiceUpdates: Operation<undefined, 'data', A.CurrentApiSessionServiceUpdateList>;
    readonly createTotpToken: Operation<B.MfaCode, 'data', A.TotpToken>;
    readonly getCurrentIdentity: Operation<undefined, 'data', A.IdentityDetail>;
    readonly listCurrentIdentityAuthenticators: Operation<undefined, 'page', A.AuthenticatorDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly detailCurrentIdentityAuthenticator: Operation<undefined, 'data', A.AuthenticatorDetail, 'id'>;
    readonly patchCurrentIdentityAuthenticator: Operation<B.AuthenticatorPatchWithCurrent, 'none', never, 'id'>;
    readonly updateCurrentIdentityAuthenticator: Operation<B.AuthenticatorUpdateWithCurrent, 'none', never, 'id'>;
    readonly extendCurrentIdentityAuthenticator: Operation<B.IdentityExtendEnrollmentRequest, 'data', A.IdentityExtendCerts, 'id'>;
    readonly extendVerifyCurrentIdentityAuthenticator: Operation<B.IdentityExtendValidateEnrollmentRequest, 'none', never, 'id'>;
    readonly getCurrentIdentityEdgeRouters: Operation<undefined, 'page', A.CurrentIdentityEdgeRouterDetail>;
    readonly deleteMfa: Operation<undefined, 'none', never>;
    readonly detailMfa: Operation<undefined, 'data', A.DetailMfa>;
    readonly enrollMfa: Operation<undefined, 'data', A.CreateLocation>;
    readonly detailMfaQrCode: Operation<undefined, 'other', never>;
    readonly detailMfaRecoveryCodes: Operation<B.MfaCode | undefined, 'data', A.DetailMfaRecoveryCodes>;
    readonly createMfaRecoveryCodes: Operation<B.MfaCode, 'none', never>;
    readonly verifyMfa: Operation<B.MfaCode, 'none', never>;
    readonly enroll: Operation<B.GenericEnroll | string | undefined, 'data', A.Enrolled, never, 'method' | 'token'>;
    readonly enrollCa: Operation<undefined, 'none', never>;
    readonly enrollmentChallenge: Operation<B.NonceChallenge, 'bare', A.NonceSignature>;
    readonly enrollErOtt: Operation<B.ErOttEnrollmentRequest, 'data', A.EnrollmentCerts>;
    readonly extendRouterEnrollment: Operation<B.RouterExtendEnrollmentRequest, 'data', A.EnrollmentCerts>;
    readonly getEnrollmentJwks: Operation<undefined, 'bare', A.Jwks>;
    readonly enrollOtt: Operation<B.OttEnrollmentRequest | string, 'data', A.Enrolled>;
    readonly enrollOttCa: Operation<B.OttEnrollmentRequest, 'data', A.Enrolled>;
    readonly enrollToken: Operation<B.TokenEnrollmentRequest, 'data', A.Enrolled>;
    readonly enrollUpdb: Operation<B.UpdbEnrollment, 'data', A.Enrolled, never, 'token'>;
    readonly listEnumeratedCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listEnumeratedRouterCapabilities: Operation<undefined, 'data', A.Names>;
    readonly listExternalJwtSigners: Operation<undefined, 'page', A.ClientExternalJwtSignerDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly listNetworkJWTs: Operation<undefined, 'data', A.NetworkJWTList>;
    readonly createPostureResponse: Operation<B.PostureResponseCreate, 'data', A.PostureResponse>;
    readonly createPostureResponseBulk: Operation<B.PostureResponses, 'data', A.PostureResponse>;
    readonly listProtocols: Operation<undefined, 'data', A.ListProtocols>;
    readonly listServices: Operation<undefined, 'page', A.ServiceDetail, never, 'configTypes' | 'filter' | 'limit' | 'offset' | 'roleFilter' | 'roleSemantic'>;
    readonly deleteService: Operation<undefined, 'bare', A.NotServed, 'id'>;
    readonly detailService: Operation<undefined, 'data', A.ServiceDetail, 'id'>;
    readonly patchService: Operation<B.ServicePatch, 'bare', A.NotServed, 'id'>;
    readonly updateService: Operation<B.ServiceUpdate, 'bare', A.NotServed, 'id'>;
    readonly listServiceEdgeRouters: Operation<undefined, 'data', A.ServiceEdgeRouters, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listServiceTerminators: Operation<undefined, 'page', A.TerminatorClientDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listSessions: Operation<undefined, 'page', A.SessionDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createSession: Operation<B.SessionCreate, 'data', A.SessionCreated>;
    readonly deleteSession: Operation<undefined, 'none', never, 'id'>;
    readonly detailSession: Operation<undefined, 'data', A.SessionDetail, 'id'>;
    readonly listSpecs: Operation<undefined, 'data', A.SpecList>;
    readonly detailSpec: Operation<undefined, 'data', A.SpecDetail, 'id'>;
    readonly detailSpecBody: Operation<undefined, 'data', A.Document, 'id'>;
    readonly getSwagger: Operation<undefined, 'bare', A.Document>;
    readonly listVersion: Operation<undefined, 'data', A.Version>;
  };
  readonly fabric: {
    readonly listServices: Operation<undefined, 'page', A.FabricServiceDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createService: Operation<B.FabricServiceCreate, 'data', A.CreateLocation>;
    readonly detailService: Operation<undefined, 'data', A.FabricServiceDetail, 'id'>;
    readonly updateService: Operation<B.FabricServiceUpdate, 'none', never, 'id'>;
    readonly patchService: Operation<B.FabricServicePatch, 'none', never, 'id'>;
    readonly deleteService: Operation<undefined, 'none', never, 'id'>;
    readonly listServiceTerminators: Operation<undefined, 'page', A.FabricTerminatorDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listRouters: Operation<undefined, 'page', A.FabricRouterDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createRouter: Operation<B.FabricRouterCreate, 'data', A.CreateLocation>;
    readonly detailRouter: Operation<undefined, 'data', A.FabricRouterDetail, 'id'>;
    readonly updateRouter: Operation<B.FabricRouterUpdate, 'none', never, 'id'>;
    readonly patchRouter: Operation<B.FabricRouterPatch, 'none', never, 'id'>;
    readonly deleteRouter: Operation<undefined, 'none', never, 'id'>;
    readonly listRouterTerminators: Operation<undefined, 'page', A.FabricTerminatorDetail, 'id', 'filter' | 'limit' | 'offset'>;
    readonly listTerminators: Operation<undefined, 'page', A.FabricTerminatorDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly createTerminator: Operation<B.FabricTerminatorCreate, 'data', A.CreateLocation>;
    readonly detailTerminator: Operation<undefined, 'data', A.FabricTerminatorDetail, 'id'>;
    readonly updateTerminator: Operation<B.FabricTerminatorUpdate, 'none', never, 'id'>;
    readonly patchTerminator: Operation<B.FabricTerminatorPatch, 'none', never, 'id'>;
    readonly deleteTerminator: Operation<undefined, 'none', never, 'id'>;
    readonly listLinks: Operation<undefined, 'page', A.LinkDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly detailLink: Operation<undefined, 'data', A.LinkDetail, 'id'>;
    readonly patchLink: Operation<B.LinkPatch, 'none', never, 'id'>;
    readonly deleteLink: Operation<undefined, 'none', never, 'id'>;
    readonly listCircuits: Operation<undefined, 'page', A.CircuitDetail, never, 'filter' | 'limit' | 'offset'>;
    readonly detailCircuit: Operation<undefined, 'data', A.CircuitDetail, 'id'>;
    readonly deleteCircuit: Operation<B.CircuitDelete | undefined, 'none', never, 'id'>;
    readonly inspect: Operation<B.InspectRequest, 'bare', A.InspectResponse>;
    readonly createDatabaseSnapshot: Operation<undefined, 'none', never>;
    readonly createDatabaseSnapshotWithPath: Operation<B.DatabaseSnapshotCreate, 'data', A.DatabaseSnapshot>;
    readonly checkDataIntegrity: Operation<undefined, 'none', never>;
    readonly fixDataIntegrity: Operation<undefined, 'none', never>;
    readonly dataIntegrityResults: Operation<undefined, 'data', A.DataIntegrityCheckDetails>;
    readonly clusterListMembers: Operation<undefined, 'data', A.ClusterMembers>;
    readonly clusterMemberAdd: Operation<B.ClusterMemberAdd, 'none', never>;
    readonly clusterMemberRemove: Operation<B.ClusterMemberRemove, 'none', never>;
    readonly clusterTransferLeadership: Operation<B.ClusterTransferLeadership, 'none', never>;
    readonly getSwagger: Operation<undefined, 'bare', A.Document>;
  };
  readonly lab: {
    readonly rejoinMember: Operation<undefined, 'none', never, 'id'>;
    readonly partitionMember: Operation<undefined, 'none', never, 'id'>;
    readonly healMember: Operation<undefined, 'none', never, 'id'>;
    readonly pauseMember: Operation<B.MemberPause | undefined, 'none', never, 'id'>;
    readonly killMember: Operation<undefined, 'none', never, 'id'>;
    readonly detailClock: Operation<undefined, 'data', A.LabClock>;
    readonly patchClock: Operation<B.ClockPatch, 'data', A.LabClock>;
    readonly advanceClock: Operation<B.ClockAdvance, 'data', A.LabClock>;
    readonly authenticate: Operation<B.Authenticate | undefined, 'data', A.CurrentApiSessionDetail, never, 'method'>;
    readonly deleteCurrentAPISession: Operation<undefined, 'none', never>;
    readonly clearFaults: Operation<undefined, 'none', never, never, 'scope'>;
    readonly listFaults: Operation<undefined, 'data', A.LabFaults>;
    readonly createFault: Operation<B.FaultCreate, 'data', A.LabFault>;
    readonly deleteFault: Operation<undefined, 'none', never, 'id'>;
    readonly clearJournal: Operation<undefined, 'none', never>;
    readonly patchJournal: Operation<B.JournalPatch, 'data', A.LabJournalState>;
    readonly listJournal: Operation<undefined, 'data', A.LabJournal, never, 'limit' | 'after' | 'kind' | 'identity' | 'router' | 'message' | 'path' | 'operation' | 'method' | 'status' | 'fault' | 'failed'>;
    readonly recordJournal: Operation<undefined, 'data', A.LabRecording, never, 'after' | 'identity' | 'path' | 'operation' | 'method' | 'status' | 'fault' | 'failed'>;
    readonly waitForEntry: Operation<B.JournalWait, 'data', A.LabWaited>;
    readonly verifyJournal: Operation<B.JournalVerify, 'data', A.LabVerified>;
    readonly enrollIdentity: Operation<B.LabIdentityCreate | undefined, 'data', A.LabIdentityFile, 'name'>;
    readonly createLabService: Operation<B.LabServiceCreate, 'data', A.LabService>;
    readonly detailToken: Operation<undefined, 'data', A.LabToken, 'name'>;
    readonly detailNetwork: Operation<undefined, 'data', A.LabTopology>;
    readonly waitForNetwork: Operation<B.NetworkWait | undefined, 'none', never>;
    readonly listProxies: Operation<undefined, 'data', A.LabProxies>;
    readonly createProxy: Operation<B.ProxyCreate, 'data', A.LabProxy>;
    readonly deleteProxy: Operation<undefined, 'none', never, 'name'>;
    readonly disconnectRouter: Operation<undefined, 'none', never, 'id'>;
    readonly listSnapshots: Operation<undefined, 'data', A.LabSnapshots>;
    readonly createSnapshot: Operation<B.SnapshotCreate, 'data', A.LabSnapshot>;
    readonly deleteSnapshot: Operation<undefined, 'none', never, 'name'>;
    readonly loadSnapshot: Operation<B.SnapshotLoad, 'data', A.LabSnapshot>;
    readonly saveSnapshot: Operation<undefined, 'data', A.LabSnapshotFile, 'name', 'credentials'>;
    readonly restoreSnapshot: Operation<B.LabRestore | undefined, 'data', A.LabRestored, 'name'>;
    readonly detailReady: Operation<undefined, 'data', A.LabReady>;
    readonly reset: Operation<B.LabRestore | undefined, 'data', A.LabRestored>;
    readonly seed: Operation<B.Seed | string, 'data', A.LabSeeded, never, 'apply' | 'prune' | 'plan'>;
    readonly whatIf: Operation<B.Seed | string, 'data', A.LabWhatIf, never, 'prune'>;
    readonly exportNetwork: Operation<undefined, 'data', A.LabNetwork>;
    readonly why: Operation<B.WhyQuestion, 'data', A.LabWhy>;
    readonly whyLogin: Operation<B.WhyLoginQuestion, 'data', A.LabExplanation>;
    readonly whySession: Operation<B.WhySessionQuestion, 'data', A.LabExplanation>;
    readonly whyPosture: Operation<B.WhyPostureQuestion, 'data', A.LabExplanation>;
    readonly whyLink: Operation<B.WhyLinkQuestion, 'data', A.LabExplanation>;
    readonly getSwagger: Operation<undefined, 'other', never>;
  };
}

/** Each is unique within its API. */
export type OperationId = { [Api in keyof Operations]: keyof Operations[Api] }[keyof Operations];

/** The fields of a request to each function of the lab, or its document. */
export interface LabInputs {
  readonly rejoinMember: { readonly id: string };
  readonly partitionMember: { readonly id: string };
  readonly healMember: { readonly id: string };
  readonly pauseMember: { readonly id: string } & B.MemberPause;
  readonly killMember: { readonly id: string };
  readonly detailClock: {  };
  readonly patchClock: B.ClockPatch;
  readonly advanceClock: B.ClockAdvance;
  readonly authenticate: { readonly method?: string | undefined } & B.Authenticate;
  readonly deleteCurrentAPISession: {  };
  readonly clearFaults: { readonly scope?: string | undefined };
  readonly listFaults: {  };
  readonly createFault: B.FaultCreate;
  readonly deleteFault: { readonly id: string };
  readonly clearJournal: {  };
  readonly patchJournal: B.JournalPatch;
  readonly listJournal: { readonly limit?: number | undefined; readonly after?: number | undefined; readonly kind?: string | undefined; readonly identity?: string | undefined; readonly router?: string | undefined; readonly message?: string | undefined; readonly path?: string | undefined; readonly operation?: string | undefined; readonly method?: string | undefined; readonly status?: number | undefined; readonly fault?: string | undefined; readonly failed?: boolean | undefined };
  readonly recordJournal: { readonly after?: number | undefined; readonly identity?: string | undefined; readonly path?: string | undefined; readonly operation?: string | undefined; readonly method?: string | undefined; readonly status?: number | undefined; readonly fault?: string | undefined; readonly failed?: boolean | undefined };
  readonly waitForEntry: B.JournalWait;
  readonly verifyJournal: B.JournalVerify;
  readonly enrollIdentity: { readonly name: string } & B.LabIdentityCreate;
  readonly createLabService: B.LabServiceCreate;
  readonly detailToken: { readonly name: string };
  readonly detailNetwork: {  };
  readonly waitForNetwork: B.NetworkWait;
  readonly listProxies: {  };
  readonly createProxy: B.ProxyCreate;
  readonly deleteProxy: { readonly name: string };
  readonly disconnectRouter: { readonly id: string };
  readonly listSnapshots: {  };
  readonly createSnapshot: B.SnapshotCreate;
  readonly deleteSnapshot: { readonly name: string };
  readonly loadSnapshot: B.SnapshotLoad;
  readonly saveSnapshot: { readonly name: string; readonly credentials?: boolean | undefined };
  readonly restoreSnapshot: { readonly name: string } & B.LabRestore;
  readonly detailReady: {  };
  readonly reset: B.LabRestore;
  readonly seed: { readonly apply?: boolean | undefined; readonly prune?: boolean | undefined; readonly plan?: boolean | undefined; readonly document: B.Seed | string };
  readonly whatIf: { readonly prune?: boolean | undefined; readonly document: B.Seed | string };
  readonly exportNetwork: {  };
  readonly why: B.WhyQuestion;
  readonly whyLogin: B.WhyLoginQuestion;
  readonly whySession: B.WhySessionQuestion;
  readonly whyPosture: B.WhyPostureQuestion;
  readonly whyLink: B.WhyLinkQuestion;
  readonly getSwagger: {  };
}

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
