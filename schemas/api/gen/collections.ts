// Generated from schemas/api/operations.tsv and schemas/lab by `npm run generate`. Do not edit.

/** The operations of each collection of entities, by API. */
export const COLLECTIONS = {
  management: {
    apiSessions: { list: 'listAPISessions', delete: 'deleteAPISessions', get: 'detailAPISessions' },
    authPolicies: { list: 'listAuthPolicies', create: 'createAuthPolicy', delete: 'deleteAuthPolicy', get: 'detailAuthPolicy', patch: 'patchAuthPolicy', update: 'updateAuthPolicy' },
    authenticators: { list: 'listAuthenticators', create: 'createAuthenticator', delete: 'deleteAuthenticator', get: 'detailAuthenticator', patch: 'patchAuthenticator', update: 'updateAuthenticator' },
    cas: { list: 'listCas', create: 'createCa', delete: 'deleteCa', get: 'detailCa', patch: 'patchCa', update: 'updateCa' },
    configTypes: { list: 'listConfigTypes', create: 'createConfigType', delete: 'deleteConfigType', get: 'detailConfigType', patch: 'patchConfigType', update: 'updateConfigType' },
    configs: { list: 'listConfigs', create: 'createConfig', delete: 'deleteConfig', get: 'detailConfig', patch: 'patchConfig', update: 'updateConfig' },
    edgeRouterPolicies: { list: 'listEdgeRouterPolicies', create: 'createEdgeRouterPolicy', delete: 'deleteEdgeRouterPolicy', get: 'detailEdgeRouterPolicy', patch: 'patchEdgeRouterPolicy', update: 'updateEdgeRouterPolicy' },
    edgeRouters: { list: 'listEdgeRouters', create: 'createEdgeRouter', delete: 'deleteEdgeRouter', get: 'detailEdgeRouter', patch: 'patchEdgeRouter', update: 'updateEdgeRouter' },
    enrollments: { list: 'listEnrollments', create: 'createEnrollment', delete: 'deleteEnrollment', get: 'detailEnrollment' },
    externalJwtSigners: { list: 'listExternalJwtSigners', create: 'createExternalJwtSigner', delete: 'deleteExternalJwtSigner', get: 'detailExternalJwtSigner', patch: 'patchExternalJwtSigner', update: 'updateExternalJwtSigner' },
    identities: { list: 'listIdentities', create: 'createIdentity', delete: 'deleteIdentity', get: 'detailIdentity', patch: 'patchIdentity', update: 'updateIdentity' },
    identityTypes: { list: 'listIdentityTypes', get: 'detailIdentityType' },
    postureCheckTypes: { list: 'listPostureCheckTypes', get: 'detailPostureCheckType' },
    postureChecks: { list: 'listPostureChecks', create: 'createPostureCheck', delete: 'deletePostureCheck', get: 'detailPostureCheck', patch: 'patchPostureCheck', update: 'updatePostureCheck' },
    revocations: { list: 'listRevocations', create: 'createRevocation', get: 'detailRevocation' },
    routers: { list: 'listRouters', create: 'createRouter', delete: 'deleteRouter', get: 'detailRouter', patch: 'patchRouter', update: 'updateRouter' },
    serviceEdgeRouterPolicies: { list: 'listServiceEdgeRouterPolicies', create: 'createServiceEdgeRouterPolicy', delete: 'deleteServiceEdgeRouterPolicy', get: 'detailServiceEdgeRouterPolicy', patch: 'patchServiceEdgeRouterPolicy', update: 'updateServiceEdgeRouterPolicy' },
    servicePolicies: { list: 'listServicePolicies', create: 'createServicePolicy', delete: 'deleteServicePolicy', get: 'detailServicePolicy', patch: 'patchServicePolicy', update: 'updateServicePolicy' },
    services: { list: 'listServices', create: 'createService', delete: 'deleteService', get: 'detailService', patch: 'patchService', update: 'updateService' },
    sessions: { list: 'listSessions', delete: 'deleteSession', get: 'detailSession' },
    terminators: { list: 'listTerminators', create: 'createTerminator', delete: 'deleteTerminator', get: 'detailTerminator', patch: 'patchTerminator', update: 'updateTerminator' },
    transitRouters: { list: 'listTransitRouters', create: 'createTransitRouter', delete: 'deleteTransitRouter', get: 'detailTransitRouter', patch: 'patchTransitRouter', update: 'updateTransitRouter' },
  },
  client: {
    services: { list: 'listServices', get: 'detailService' },
    sessions: { list: 'listSessions', create: 'createSession', delete: 'deleteSession', get: 'detailSession' },
  },
  fabric: {
    services: { list: 'listServices', create: 'createService', get: 'detailService', update: 'updateService', patch: 'patchService', delete: 'deleteService' },
    routers: { list: 'listRouters', create: 'createRouter', get: 'detailRouter', update: 'updateRouter', patch: 'patchRouter', delete: 'deleteRouter' },
    terminators: { list: 'listTerminators', create: 'createTerminator', get: 'detailTerminator', update: 'updateTerminator', patch: 'patchTerminator', delete: 'deleteTerminator' },
    links: { list: 'listLinks', get: 'detailLink', patch: 'patchLink', delete: 'deleteLink' },
    circuits: { list: 'listCircuits', get: 'detailCircuit', delete: 'deleteCircuit' },
  },
} as const;
