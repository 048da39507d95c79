// The commands of `ziti edge`, `ziti fabric` and `ziti ops` that are compared, in their order, and those that are not,
// with the reason. `{KIND:FIELD=VALUE}` is the id of the first entity with that value.

/** Create what the examples and the other commands refer to. */
export const CREATE = lines(`
edge version
edge list summary
edge create auth-policy strict --primary-cert-allowed --primary-updb-allowed --primary-updb-min-length 8 --primary-updb-max-attempts 3
edge create identity echo-client -a echo,clients -o client.jwt
edge create identity echo-host -a echo --updb echo-host -c 7 -p required --tags foo=bar
edge create identity echo-host
edge create identity admin-two -A -P strict --external-id outside --app-data color=blue --permissions service.read
edge create identity 'David Bright'
edge create authenticator updb 'David Bright' dbright '@$yh3Hh3h4'
edge create enrollment ott 'David Bright'
edge create enrollment updb admin-two admin-two
edge create ca test-ca ca.cert -e -u -o -a from-ca -f '[caName]-[commonName]'
edge create ca test-ca ca.cert
edge verify ca test-ca --cacert ca.cert --cakey ca.key
edge create enrollment ottca echo-client test-ca
edge create config test host.v1 '{"protocol":"tcp","address":"localhost","port":80}'
edge create config broken host.v1 '{"protocol":"ship","address":"localhost","port":80}'
edge create config other unknown.v1 '{"port":80}'
edge create config-type color.v1 '{"type":"object","properties":{"color":{"type":"string"}}}' --target service
edge create config blue color.v1 '{"color":"blue"}'
edge create edge-router tagged -a echo,west -t --cost 5 --tags foo=bar -o tagged.jwt
edge create edge-router my-router --no-traversal --disabled
edge create transit-router transit --cost 3
edge create service test -c test -a echo,web
edge create service echo -e OFF --max-idle-time 5m --terminator-strategy weighted -a echo
edge create service test
edge create service stranger --terminator-strategy unknown
edge create edge-router-policy routers --identity-roles '#all' --edge-router-roles '#echo,@my-router' --semantic AnyOf
edge create service-edge-router-policy services --service-roles '#all' --edge-router-roles '#all'
edge create service-policy echo-dial Dial --identity-roles '#clients' --service-roles '@echo' --semantic AllOf
edge create service-policy echo-bind Bind --identity-roles '@echo-host' --service-roles '#echo' --semantic AnyOf
edge create service-policy wrong Both --identity-roles '#all' --service-roles '#all'
edge create service-policy lost Dial --identity-roles '@nobody' --service-roles '#all'
edge create posture-check domain at-home -d home.example,work.example -a place
edge create posture-check mac known-mac -m 01:23:45:67:89:ab
edge create posture-check mfa second -s 60 -w -u
edge create posture-check os known-os -o 'Windows:>10.0.0,Linux'
edge create posture-check process running Linux /usr/bin/true -f 0123456789012345678901234567890123456789
edge create posture-check process-multi several AnyOf Linux,Windows '/usr/bin/true,C:/true.exe'
edge create ext-jwt-signer outside https://issuer.example -u https://issuer.example/keys -a edge -c email
edge create terminator echo online tcp:127.0.0.1:7 --binding transport -c 3 -p required
edge create terminator echo nowhere tcp:127.0.0.1:7
edge create revocation identity {identities:name=echo-client}
edge create revocation jti 0b6f2a4e-3a7b-4f5e-9d53-5f0b1c0a9f11
edge create revocation api-session 3f8f7f2c-8a4b-4f0a-8d7e-2b8f1e3d4c5b
fabric create router ca.cert --name by-certificate --cost 2
fabric create service fabric-service --terminator-strategy smartrouting
fabric create terminator fabric-service online tcp:127.0.0.1:8 -c 2
`);

/** Lists, details and checks: nothing changes. The examples of the help run with them. */
export const READ = lines(`
edge list identities
edge list identities --csv
edge list identities 'name contains "echo" sort by name desc limit 1'
edge list identities 'unknown = 1'
edge list identities 'name ='
edge list identities --role-filters echo --role-semantic AnyOf
edge list services --role-filters echo,web --role-semantic AllOf
edge list services 'limit none'
edge list api-sessions
edge list auth-policies 'sort by name'
edge list authenticators
edge list cas
edge list config services test
edge list config-type configs color.v1
edge list config-types
edge list configs
edge list edge-router edge-router-policies tagged
edge list edge-router identities tagged
edge list edge-router service-edge-router-policies tagged
edge list edge-router services tagged
edge list edge-router-policies
edge list edge-router-policy edge-routers routers
edge list edge-router-policy identities routers
edge list edge-router-role-attributes
edge list edge-routers
edge list enrollments
edge list ext-jwt-signers
edge list identity edge-router-policies echo-client
edge list identity edge-routers echo-client
edge list identity service-configs echo-client
edge list identity service-policies echo-client
edge list identity services echo-client
edge list identity services nobody
edge list identity-role-attributes
edge list network-jwts
edge list posture-check-role-attributes
edge list posture-check-types
edge list posture-checks 'sort by name'
edge list revocations
edge list service configs test
edge list service edge-routers test
edge list service identities echo
edge list service service-edge-router-policies test
edge list service service-policies echo
edge list service terminators echo
edge list service-edge-router-policies
edge list service-edge-router-policy edge-routers services
edge list service-edge-router-policy services services
edge list service-policies
edge list service-policy identities echo-dial
edge list service-policy posture-checks echo-dial
edge list service-policy services echo-bind
edge list service-role-attributes
edge list services
edge list sessions
edge list summary
edge list terminators
edge list transit-routers
edge policy-advisor identities
edge policy-advisor identities echo-client
edge policy-advisor identities echo-client echo
edge policy-advisor identities -q echo-host test
edge policy-advisor services
edge policy-advisor services echo
edge policy-advisor services echo echo-host
edge policy-advisor services nothing
edge show config test
edge show config-type host.v1
edge show config-type color.v1
edge show config nothing
fabric list circuits
fabric list controllers
fabric list links
fabric list routers
fabric list routers 'name = "online"'
fabric list services
fabric list terminators
fabric inspect circuit nothing
fabric inspect cluster-config
fabric inspect config online
fabric inspect links online
fabric inspect connected-peers
fabric inspect connected-routers
fabric inspect ctrl-dialer
fabric inspect ctrl-peer-dialer
fabric inspect data-model-index
fabric inspect ert-terminators
fabric inspect identity-connection-statuses
fabric inspect links
fabric inspect router-circuits
fabric inspect router-config-registry
fabric inspect router-controllers
fabric inspect router-data-model online
fabric inspect router-data-model-index
fabric inspect router-edge-circuits
fabric inspect router-messaging
fabric inspect router-sdk-circuits
fabric inspect sdk online {identities:name=echo-client}
fabric inspect sdk-terminators
fabric inspect terminator-costs
fabric inspect unknown-thing .*
fabric validate controller-dialers
fabric validate terminators
fabric validate terminators --include-valid --filter 'binding = "tunnel"'
fabric validate terminators --filter 'binding ='
fabric validate terminators --filter 'nothing = 1'
fabric validate terminators --expected-per-host-and-svc 1 --expected-per-host 1 --identity-filter 'name = "online"'
fabric validate router-links
fabric validate router-links 'name = "online"' --include-valid-routers --include-valid-links
fabric validate router-links 'nothing = 1'
fabric validate router-data-model 'name="nothing"'
fabric validate router-data-model 'name="online"' --include-successes --validate-controller=false
fabric validate router-data-model 'name="online"' --fix
fabric validate router-data-model 'name ='
fabric validate circuits 'name="nothing"'
fabric validate circuits 'name="online"' --include-valid-routers --include-valid
fabric validate circuits 'sort by nothing'
fabric validate identity-connection-statuses 'name="nothing"'
fabric validate identity-connection-statuses 'name="online"' --include-successes
fabric validate identity-connection-statuses 'connected'
fabric validate router-ert-terminators 'name="nothing"'
fabric validate router-ert-terminators 'name="online"' --include-valid-routers --include-valid-terminators
fabric validate router-sdk-terminators 'name="nothing"'
fabric validate router-sdk-terminators 'name="online"' --include-valid-routers --include-valid-terminators
fabric validate router-sdk-terminators 'limit -5'
edge validate service-hosting
`);

/** Change, then delete, what was created. */
export const CHANGE = lines(`
edge trace identity echo-client -d 1m
edge trace identity echo-client --disable
edge update auth-policy strict --primary-updb-min-length 9 --secondary-req-totp
edge update authenticator updb --identity 'David Bright' -p another-secret
edge update authenticator cert {authenticators:username=dbright} --request-extend
edge update ca test-ca -n renamed-ca -a other -e
edge update config test -d '{"protocol":"udp","address":"localhost","port":81}'
edge update config test -d '{"port":"none"}'
edge update config-type color.v1 -n colour.v1
edge update edge-router tagged -a east --cost 6
edge update edge-router nothing -a east
edge update edge-router-policy routers --edge-router-roles '#all'
edge update ext-jwt-signer outside -n renamed-signer -a other
edge update identity echo-client -a clients,new --service-costs echo=5 --service-precedences echo=required
edge update identity echo-client -n echo-host
edge update identity-configs echo-client test test
edge list identity service-configs echo-client
edge update identity-configs echo-client test test --remove
edge update posture-check domain at-home -d away.example
edge update posture-check mac known-mac -m 0a:23:45:67:89:ab
edge update posture-check mfa second -s 90 -q
edge update posture-check os known-os -o Linux
edge update posture-check process running -p /usr/bin/false
edge update service test -a '' --max-idle-time 1m
edge update service-edge-router-policy services --service-roles '#echo'
edge update service-policy echo-dial -p '@second'
edge update terminator {terminators:address=tcp:127.0.0.1:7} -c 9
edge re-enroll edge-router tagged -o again.jwt
fabric update router by-certificate --cost 4
fabric update service fabric-service -n fabric-renamed
fabric update terminator {terminators:address=tcp:127.0.0.1:8} --address tcp:127.0.0.1:9
fabric update link nothing --static-cost 3
edge list identities 'sort by name'
edge list services 'sort by name'
edge list terminators
edge list posture-checks 'sort by name'
edge list service-policies
edge list cas 'limit 5'
edge list auth-policies 'sort by name limit 5'
edge list edge-routers
edge delete api-session 00000000-0000-0000-0000-000000000000
edge delete api-session where 'identity.name = "nobody"'
edge delete session nothing
edge delete session where 'id = "nothing"'
edge delete auth-policy strict
edge delete auth-policy default
edge delete config-type host.v1
edge delete authenticator {authenticators:username=dbright}
edge delete authenticator where 'username = "nobody"'
edge delete enrollment {enrollments:method=ottca}
edge delete enrollment where 'method = "updb"'
edge delete terminator {terminators:address=tcp:127.0.0.1:7}
edge delete terminator where 'address = "nowhere"'
edge delete ca renamed-ca
edge delete ca where 'name = "nothing"'
edge delete config blue
edge delete config where 'name = "test"'
edge delete config-type colour.v1
edge delete config-type where 'name = "nothing"'
edge delete edge-router-policy routers
edge delete edge-router-policy where 'name = "nothing"'
edge delete external-jwt-signer renamed-signer
edge delete external-jwt-signer where 'name = "nothing"'
edge delete posture-check at-home
edge delete posture-check where 'name contains "known"'
edge delete service-edge-router-policy services
edge delete service-edge-router-policy where 'name = "nothing"'
edge delete service-policy echo-bind
edge delete service-policy where 'name = "echo-dial"'
edge delete service test
edge delete service where 'name = "echo"'
edge delete identity echo-host nothing
edge delete identity where 'name contains "echo" limit none'
edge delete identity admin-two
edge delete auth-policy where 'name = "strict"'
edge delete edge-router tagged
edge delete edge-router where 'name = "my-router"'
edge delete transit-router transit
edge delete transit-router where 'name = "nothing"'
fabric delete terminator where 'binding = "nothing"'
fabric delete terminator {terminators:address=tcp:127.0.0.1:9}
fabric delete service {services:name=fabric-renamed}
fabric delete service where 'name = "nothing"'
fabric delete router by-certificate
fabric delete router where 'name = "nothing"'
fabric delete circuit nothing
fabric delete circuit where 'id = "nothing"'
fabric delete link nothing
fabric delete link where 'id = "nothing"'
edge delete service nothing
edge db snapshot
edge db start-check-integrity
edge db check-integrity-status
fabric db snapshot
fabric db start-check-integrity
fabric db check-integrity-status
ops cluster list
ops cluster add tls:127.0.0.1:1
ops cluster remove nothing
ops cluster transfer-leadership
ops verify ext-jwt-signer oidc nothing
edge list summary
edge use
edge logout
edge list identities
`);

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
