// Generated from router.schema.json by `npm run generate`. Do not edit.

export function makeValidator(schema0, formats) {
const schema1 = {"type":"object","description":"Outbound HTTP proxy: `proxy` for controllers and links, `transport.proxy` for services at `tls:` addresses.","x-type":"ProxyConfig","x-null":"absent","x-lenient":"ignored","properties":{"type":{"type":"string","description":"none or http.","enum":["none","http"]},"address":{"type":"string","description":"`host:port` of the proxy.","format":"host-port"},"username":{"type":"string","description":"Username."},"password":{"type":"string","description":"Password.","x-secret":true}},"required":["type"],"additionalProperties":false};
const func0 = Object.prototype.hasOwnProperty;
const func13 = (text) => [...text].length;
const formats0 = formats.address;
const formats4 = formats.interface;
const formats6 = formats.duration;
const formats32 = formats.ip;
const formats34 = formats["uri-reference"];
const formats44 = formats["host-port"];
const formats48 = formats["duration-or-ms"];
const formats116 = formats.cidr;
const formats118 = formats["proxy-service"];
const formats134 = formats["datagram-address"];
const formats190 = formats["host-port-required"];
const pattern0 = new RegExp("^(host|proxy|tproxy(:.*)?)$", "u");

function validate0(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){
/*# sourceURL="router.schema.json" */;
let vErrors = null;
let errors = 0;
const evaluated0 = validate0.evaluated;
if(evaluated0.dynamicProps){
evaluated0.props = undefined;
}
if(evaluated0.dynamicItems){
evaluated0.items = undefined;
}
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.v === undefined){
const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "v"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(data.identity === undefined){
const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "identity"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if(data.ctrl === undefined){
const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "ctrl"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
for(const key0 in data){
if(!(func0.call(schema0.properties, key0))){
const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
if(data.v !== undefined){
let data0 = data.v;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err4 = {instancePath:instancePath+"/v",schemaPath:"#/properties/v/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(3 !== data0){
const err5 = {instancePath:instancePath+"/v",schemaPath:"#/properties/v/const",keyword:"const",params:{allowedValue: 3}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.identity !== undefined){
let data1 = data.identity;
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
for(const key1 in data1){
if(!((((((key1 === "cert") || (key1 === "server_cert")) || (key1 === "key")) || (key1 === "server_key")) || (key1 === "ca")) || (key1 === "alt_server_certs"))){
const err6 = {instancePath:instancePath+"/identity",schemaPath:"#/properties/identity/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
if(data1.cert !== undefined){
if(typeof data1.cert !== "string"){
const err7 = {instancePath:instancePath+"/identity/cert",schemaPath:"#/properties/identity/properties/cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
if(data1.server_cert !== undefined){
if(typeof data1.server_cert !== "string"){
const err8 = {instancePath:instancePath+"/identity/server_cert",schemaPath:"#/properties/identity/properties/server_cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
if(data1.key !== undefined){
if(typeof data1.key !== "string"){
const err9 = {instancePath:instancePath+"/identity/key",schemaPath:"#/properties/identity/properties/key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
}
if(data1.server_key !== undefined){
if(typeof data1.server_key !== "string"){
const err10 = {instancePath:instancePath+"/identity/server_key",schemaPath:"#/properties/identity/properties/server_key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
}
if(data1.ca !== undefined){
if(typeof data1.ca !== "string"){
const err11 = {instancePath:instancePath+"/identity/ca",schemaPath:"#/properties/identity/properties/ca/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
if(data1.alt_server_certs !== undefined){
let data7 = data1.alt_server_certs;
if(Array.isArray(data7)){
const len0 = data7.length;
for(let i0=0; i0<len0; i0++){
let data8 = data7[i0];
if(data8 && typeof data8 == "object" && !Array.isArray(data8)){
if(data8.server_cert === undefined){
const err12 = {instancePath:instancePath+"/identity/alt_server_certs/" + i0,schemaPath:"#/properties/identity/properties/alt_server_certs/items/required",keyword:"required",params:{missingProperty: "server_cert"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
for(const key2 in data8){
if(!((key2 === "server_cert") || (key2 === "server_key"))){
const err13 = {instancePath:instancePath+"/identity/alt_server_certs/" + i0,schemaPath:"#/properties/identity/properties/alt_server_certs/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
}
if(data8.server_cert !== undefined){
if(typeof data8.server_cert !== "string"){
const err14 = {instancePath:instancePath+"/identity/alt_server_certs/" + i0+"/server_cert",schemaPath:"#/properties/identity/properties/alt_server_certs/items/properties/server_cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
if(data8.server_key !== undefined){
if(typeof data8.server_key !== "string"){
const err15 = {instancePath:instancePath+"/identity/alt_server_certs/" + i0+"/server_key",schemaPath:"#/properties/identity/properties/alt_server_certs/items/properties/server_key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
}
else {
const err16 = {instancePath:instancePath+"/identity/alt_server_certs/" + i0,schemaPath:"#/properties/identity/properties/alt_server_certs/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
}
}
else {
const err17 = {instancePath:instancePath+"/identity/alt_server_certs",schemaPath:"#/properties/identity/properties/alt_server_certs/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
}
}
}
else {
const err18 = {instancePath:instancePath+"/identity",schemaPath:"#/properties/identity/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
if(data.ctrl !== undefined){
let data11 = data.ctrl;
if(data11 && typeof data11 == "object" && !Array.isArray(data11)){
for(const key3 in data11){
if(!(func0.call(schema0.properties.ctrl.properties, key3))){
const err19 = {instancePath:instancePath+"/ctrl",schemaPath:"#/properties/ctrl/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
if(data11.endpoint !== undefined){
let data12 = data11.endpoint;
if(typeof data12 === "string"){
if(!(formats0(data12))){
const err20 = {instancePath:instancePath+"/ctrl/endpoint",schemaPath:"#/properties/ctrl/properties/endpoint/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
}
else {
const err21 = {instancePath:instancePath+"/ctrl/endpoint",schemaPath:"#/properties/ctrl/properties/endpoint/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
}
}
if(data11.endpoints !== undefined){
let data13 = data11.endpoints;
if(Array.isArray(data13)){
const len1 = data13.length;
for(let i1=0; i1<len1; i1++){
let data14 = data13[i1];
if(typeof data14 === "string"){
if(!(formats0(data14))){
const err22 = {instancePath:instancePath+"/ctrl/endpoints/" + i1,schemaPath:"#/properties/ctrl/properties/endpoints/items/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/ctrl/endpoints/" + i1,schemaPath:"#/properties/ctrl/properties/endpoints/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
}
else {
const err24 = {instancePath:instancePath+"/ctrl/endpoints",schemaPath:"#/properties/ctrl/properties/endpoints/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
}
if(data11.bind !== undefined){
let data15 = data11.bind;
if(typeof data15 === "string"){
if(!(formats4(data15))){
const err25 = {instancePath:instancePath+"/ctrl/bind",schemaPath:"#/properties/ctrl/properties/bind/format",keyword:"format",params:{format: "interface"}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
}
}
else {
const err26 = {instancePath:instancePath+"/ctrl/bind",schemaPath:"#/properties/ctrl/properties/bind/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
if(data11.defaultRequestTimeout !== undefined){
let data16 = data11.defaultRequestTimeout;
if(typeof data16 === "string"){
if(!(formats6(data16))){
const err27 = {instancePath:instancePath+"/ctrl/defaultRequestTimeout",schemaPath:"#/properties/ctrl/properties/defaultRequestTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
else {
const err28 = {instancePath:instancePath+"/ctrl/defaultRequestTimeout",schemaPath:"#/properties/ctrl/properties/defaultRequestTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
}
if(data11.startupTimeout !== undefined){
let data17 = data11.startupTimeout;
if(typeof data17 === "string"){
if(!(formats6(data17))){
const err29 = {instancePath:instancePath+"/ctrl/startupTimeout",schemaPath:"#/properties/ctrl/properties/startupTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
}
}
else {
const err30 = {instancePath:instancePath+"/ctrl/startupTimeout",schemaPath:"#/properties/ctrl/properties/startupTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
if(data11.endpointsFile !== undefined){
if(typeof data11.endpointsFile !== "string"){
const err31 = {instancePath:instancePath+"/ctrl/endpointsFile",schemaPath:"#/properties/ctrl/properties/endpointsFile/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
if(data11.options !== undefined){
let data19 = data11.options;
if(data19 && typeof data19 == "object" && !Array.isArray(data19)){
for(const key4 in data19){
if(!((((((key4 === "outQueueSize") || (key4 === "maxQueuedConnects")) || (key4 === "maxOutstandingConnects")) || (key4 === "connectTimeout")) || (key4 === "connectTimeoutMs")) || (key4 === "writeTimeout"))){
const err32 = {instancePath:instancePath+"/ctrl/options",schemaPath:"#/properties/ctrl/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
}
if(data19.outQueueSize !== undefined){
let data20 = data19.outQueueSize;
if(!(((typeof data20 == "number") && (!(data20 % 1) && !isNaN(data20))) && (isFinite(data20)))){
const err33 = {instancePath:instancePath+"/ctrl/options/outQueueSize",schemaPath:"#/properties/ctrl/properties/options/properties/outQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
}
if((typeof data20 == "number") && (isFinite(data20))){
if(data20 < 0 || isNaN(data20)){
const err34 = {instancePath:instancePath+"/ctrl/options/outQueueSize",schemaPath:"#/properties/ctrl/properties/options/properties/outQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
}
if(data19.maxQueuedConnects !== undefined){
let data21 = data19.maxQueuedConnects;
if(!(((typeof data21 == "number") && (!(data21 % 1) && !isNaN(data21))) && (isFinite(data21)))){
const err35 = {instancePath:instancePath+"/ctrl/options/maxQueuedConnects",schemaPath:"#/properties/ctrl/properties/options/properties/maxQueuedConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
if((typeof data21 == "number") && (isFinite(data21))){
if(data21 > 5000 || isNaN(data21)){
const err36 = {instancePath:instancePath+"/ctrl/options/maxQueuedConnects",schemaPath:"#/properties/ctrl/properties/options/properties/maxQueuedConnects/maximum",keyword:"maximum",params:{comparison: "<=", limit: 5000}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
if(data21 < 1 || isNaN(data21)){
const err37 = {instancePath:instancePath+"/ctrl/options/maxQueuedConnects",schemaPath:"#/properties/ctrl/properties/options/properties/maxQueuedConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
}
}
}
if(data19.maxOutstandingConnects !== undefined){
let data22 = data19.maxOutstandingConnects;
if(!(((typeof data22 == "number") && (!(data22 % 1) && !isNaN(data22))) && (isFinite(data22)))){
const err38 = {instancePath:instancePath+"/ctrl/options/maxOutstandingConnects",schemaPath:"#/properties/ctrl/properties/options/properties/maxOutstandingConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
if((typeof data22 == "number") && (isFinite(data22))){
if(data22 > 1000 || isNaN(data22)){
const err39 = {instancePath:instancePath+"/ctrl/options/maxOutstandingConnects",schemaPath:"#/properties/ctrl/properties/options/properties/maxOutstandingConnects/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
if(data22 < 1 || isNaN(data22)){
const err40 = {instancePath:instancePath+"/ctrl/options/maxOutstandingConnects",schemaPath:"#/properties/ctrl/properties/options/properties/maxOutstandingConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
}
}
if(data19.connectTimeout !== undefined){
let data23 = data19.connectTimeout;
if(typeof data23 === "string"){
if(!(formats6(data23))){
const err41 = {instancePath:instancePath+"/ctrl/options/connectTimeout",schemaPath:"#/properties/ctrl/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
}
}
else {
const err42 = {instancePath:instancePath+"/ctrl/options/connectTimeout",schemaPath:"#/properties/ctrl/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err42];
}
else {
vErrors.push(err42);
}
errors++;
}
}
if(data19.connectTimeoutMs !== undefined){
let data24 = data19.connectTimeoutMs;
if(!(((typeof data24 == "number") && (!(data24 % 1) && !isNaN(data24))) && (isFinite(data24)))){
const err43 = {instancePath:instancePath+"/ctrl/options/connectTimeoutMs",schemaPath:"#/properties/ctrl/properties/options/properties/connectTimeoutMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err43];
}
else {
vErrors.push(err43);
}
errors++;
}
if((typeof data24 == "number") && (isFinite(data24))){
if(data24 > 60000 || isNaN(data24)){
const err44 = {instancePath:instancePath+"/ctrl/options/connectTimeoutMs",schemaPath:"#/properties/ctrl/properties/options/properties/connectTimeoutMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 60000}};
if(vErrors === null){
vErrors = [err44];
}
else {
vErrors.push(err44);
}
errors++;
}
if(data24 < 30 || isNaN(data24)){
const err45 = {instancePath:instancePath+"/ctrl/options/connectTimeoutMs",schemaPath:"#/properties/ctrl/properties/options/properties/connectTimeoutMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 30}};
if(vErrors === null){
vErrors = [err45];
}
else {
vErrors.push(err45);
}
errors++;
}
}
}
if(data19.writeTimeout !== undefined){
let data25 = data19.writeTimeout;
if(typeof data25 === "string"){
if(!(formats6(data25))){
const err46 = {instancePath:instancePath+"/ctrl/options/writeTimeout",schemaPath:"#/properties/ctrl/properties/options/properties/writeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err46];
}
else {
vErrors.push(err46);
}
errors++;
}
}
else {
const err47 = {instancePath:instancePath+"/ctrl/options/writeTimeout",schemaPath:"#/properties/ctrl/properties/options/properties/writeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err47];
}
else {
vErrors.push(err47);
}
errors++;
}
}
}
else {
const err48 = {instancePath:instancePath+"/ctrl/options",schemaPath:"#/properties/ctrl/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err48];
}
else {
vErrors.push(err48);
}
errors++;
}
}
if(data11.heartbeats !== undefined){
let data26 = data11.heartbeats;
if(data26 && typeof data26 == "object" && !Array.isArray(data26)){
for(const key5 in data26){
if(!((((key5 === "sendInterval") || (key5 === "checkInterval")) || (key5 === "closeUnresponsiveTimeout")) || (key5 === "unresponsiveAfter"))){
const err49 = {instancePath:instancePath+"/ctrl/heartbeats",schemaPath:"#/properties/ctrl/properties/heartbeats/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5}};
if(vErrors === null){
vErrors = [err49];
}
else {
vErrors.push(err49);
}
errors++;
}
}
if(data26.sendInterval !== undefined){
let data27 = data26.sendInterval;
if(typeof data27 === "string"){
if(!(formats6(data27))){
const err50 = {instancePath:instancePath+"/ctrl/heartbeats/sendInterval",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/sendInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err50];
}
else {
vErrors.push(err50);
}
errors++;
}
}
else {
const err51 = {instancePath:instancePath+"/ctrl/heartbeats/sendInterval",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/sendInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err51];
}
else {
vErrors.push(err51);
}
errors++;
}
}
if(data26.checkInterval !== undefined){
let data28 = data26.checkInterval;
if(typeof data28 === "string"){
if(!(formats6(data28))){
const err52 = {instancePath:instancePath+"/ctrl/heartbeats/checkInterval",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/checkInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err52];
}
else {
vErrors.push(err52);
}
errors++;
}
}
else {
const err53 = {instancePath:instancePath+"/ctrl/heartbeats/checkInterval",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/checkInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err53];
}
else {
vErrors.push(err53);
}
errors++;
}
}
if(data26.closeUnresponsiveTimeout !== undefined){
let data29 = data26.closeUnresponsiveTimeout;
if(typeof data29 === "string"){
if(!(formats6(data29))){
const err54 = {instancePath:instancePath+"/ctrl/heartbeats/closeUnresponsiveTimeout",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/closeUnresponsiveTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err54];
}
else {
vErrors.push(err54);
}
errors++;
}
}
else {
const err55 = {instancePath:instancePath+"/ctrl/heartbeats/closeUnresponsiveTimeout",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/closeUnresponsiveTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err55];
}
else {
vErrors.push(err55);
}
errors++;
}
}
if(data26.unresponsiveAfter !== undefined){
let data30 = data26.unresponsiveAfter;
if(typeof data30 === "string"){
if(!(formats6(data30))){
const err56 = {instancePath:instancePath+"/ctrl/heartbeats/unresponsiveAfter",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/unresponsiveAfter/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err56];
}
else {
vErrors.push(err56);
}
errors++;
}
}
else {
const err57 = {instancePath:instancePath+"/ctrl/heartbeats/unresponsiveAfter",schemaPath:"#/properties/ctrl/properties/heartbeats/properties/unresponsiveAfter/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err57];
}
else {
vErrors.push(err57);
}
errors++;
}
}
}
else {
const err58 = {instancePath:instancePath+"/ctrl/heartbeats",schemaPath:"#/properties/ctrl/properties/heartbeats/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err58];
}
else {
vErrors.push(err58);
}
errors++;
}
}
if(data11.rateLimiter !== undefined){
let data31 = data11.rateLimiter;
if(data31 && typeof data31 == "object" && !Array.isArray(data31)){
for(const key6 in data31){
if(!(func0.call(schema0.properties.ctrl.properties.rateLimiter.properties, key6))){
const err59 = {instancePath:instancePath+"/ctrl/rateLimiter",schemaPath:"#/properties/ctrl/properties/rateLimiter/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6}};
if(vErrors === null){
vErrors = [err59];
}
else {
vErrors.push(err59);
}
errors++;
}
}
if(data31.enabled !== undefined){
if(typeof data31.enabled !== "boolean"){
const err60 = {instancePath:instancePath+"/ctrl/rateLimiter/enabled",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/enabled/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err60];
}
else {
vErrors.push(err60);
}
errors++;
}
}
if(data31.minSize !== undefined){
let data33 = data31.minSize;
if(!(((typeof data33 == "number") && (!(data33 % 1) && !isNaN(data33))) && (isFinite(data33)))){
const err61 = {instancePath:instancePath+"/ctrl/rateLimiter/minSize",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/minSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err61];
}
else {
vErrors.push(err61);
}
errors++;
}
if((typeof data33 == "number") && (isFinite(data33))){
if(data33 > 1000 || isNaN(data33)){
const err62 = {instancePath:instancePath+"/ctrl/rateLimiter/minSize",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/minSize/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err62];
}
else {
vErrors.push(err62);
}
errors++;
}
if(data33 < 5 || isNaN(data33)){
const err63 = {instancePath:instancePath+"/ctrl/rateLimiter/minSize",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/minSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 5}};
if(vErrors === null){
vErrors = [err63];
}
else {
vErrors.push(err63);
}
errors++;
}
}
}
if(data31.maxSize !== undefined){
let data34 = data31.maxSize;
if(!(((typeof data34 == "number") && (!(data34 % 1) && !isNaN(data34))) && (isFinite(data34)))){
const err64 = {instancePath:instancePath+"/ctrl/rateLimiter/maxSize",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/maxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err64];
}
else {
vErrors.push(err64);
}
errors++;
}
if((typeof data34 == "number") && (isFinite(data34))){
if(data34 > 1000 || isNaN(data34)){
const err65 = {instancePath:instancePath+"/ctrl/rateLimiter/maxSize",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/maxSize/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err65];
}
else {
vErrors.push(err65);
}
errors++;
}
if(data34 < 5 || isNaN(data34)){
const err66 = {instancePath:instancePath+"/ctrl/rateLimiter/maxSize",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/maxSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 5}};
if(vErrors === null){
vErrors = [err66];
}
else {
vErrors.push(err66);
}
errors++;
}
}
}
if(data31.timeout !== undefined){
let data35 = data31.timeout;
if(typeof data35 === "string"){
if(!(formats6(data35))){
const err67 = {instancePath:instancePath+"/ctrl/rateLimiter/timeout",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/timeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err67];
}
else {
vErrors.push(err67);
}
errors++;
}
}
else {
const err68 = {instancePath:instancePath+"/ctrl/rateLimiter/timeout",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/timeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err68];
}
else {
vErrors.push(err68);
}
errors++;
}
}
if(data31.successThreshold !== undefined){
let data36 = data31.successThreshold;
if((typeof data36 == "number") && (isFinite(data36))){
if(data36 > 1 || isNaN(data36)){
const err69 = {instancePath:instancePath+"/ctrl/rateLimiter/successThreshold",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/successThreshold/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1}};
if(vErrors === null){
vErrors = [err69];
}
else {
vErrors.push(err69);
}
errors++;
}
if(data36 < 0 || isNaN(data36)){
const err70 = {instancePath:instancePath+"/ctrl/rateLimiter/successThreshold",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/successThreshold/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err70];
}
else {
vErrors.push(err70);
}
errors++;
}
}
else {
const err71 = {instancePath:instancePath+"/ctrl/rateLimiter/successThreshold",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/successThreshold/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err71];
}
else {
vErrors.push(err71);
}
errors++;
}
}
if(data31.increaseFactor !== undefined){
let data37 = data31.increaseFactor;
if((typeof data37 == "number") && (isFinite(data37))){
if(data37 < 1 || isNaN(data37)){
const err72 = {instancePath:instancePath+"/ctrl/rateLimiter/increaseFactor",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/increaseFactor/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err72];
}
else {
vErrors.push(err72);
}
errors++;
}
}
else {
const err73 = {instancePath:instancePath+"/ctrl/rateLimiter/increaseFactor",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/increaseFactor/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err73];
}
else {
vErrors.push(err73);
}
errors++;
}
}
if(data31.decreaseFactor !== undefined){
let data38 = data31.decreaseFactor;
if((typeof data38 == "number") && (isFinite(data38))){
if(data38 >= 1 || isNaN(data38)){
const err74 = {instancePath:instancePath+"/ctrl/rateLimiter/decreaseFactor",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/decreaseFactor/exclusiveMaximum",keyword:"exclusiveMaximum",params:{comparison: "<", limit: 1}};
if(vErrors === null){
vErrors = [err74];
}
else {
vErrors.push(err74);
}
errors++;
}
if(data38 <= 0 || isNaN(data38)){
const err75 = {instancePath:instancePath+"/ctrl/rateLimiter/decreaseFactor",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/decreaseFactor/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0}};
if(vErrors === null){
vErrors = [err75];
}
else {
vErrors.push(err75);
}
errors++;
}
}
else {
const err76 = {instancePath:instancePath+"/ctrl/rateLimiter/decreaseFactor",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/decreaseFactor/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err76];
}
else {
vErrors.push(err76);
}
errors++;
}
}
if(data31.increaseCheckInterval !== undefined){
let data39 = data31.increaseCheckInterval;
if(!(((typeof data39 == "number") && (!(data39 % 1) && !isNaN(data39))) && (isFinite(data39)))){
const err77 = {instancePath:instancePath+"/ctrl/rateLimiter/increaseCheckInterval",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/increaseCheckInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err77];
}
else {
vErrors.push(err77);
}
errors++;
}
if((typeof data39 == "number") && (isFinite(data39))){
if(data39 < 1 || isNaN(data39)){
const err78 = {instancePath:instancePath+"/ctrl/rateLimiter/increaseCheckInterval",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/increaseCheckInterval/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err78];
}
else {
vErrors.push(err78);
}
errors++;
}
}
}
if(data31.decreaseCheckInterval !== undefined){
let data40 = data31.decreaseCheckInterval;
if(!(((typeof data40 == "number") && (!(data40 % 1) && !isNaN(data40))) && (isFinite(data40)))){
const err79 = {instancePath:instancePath+"/ctrl/rateLimiter/decreaseCheckInterval",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/decreaseCheckInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err79];
}
else {
vErrors.push(err79);
}
errors++;
}
if((typeof data40 == "number") && (isFinite(data40))){
if(data40 < 1 || isNaN(data40)){
const err80 = {instancePath:instancePath+"/ctrl/rateLimiter/decreaseCheckInterval",schemaPath:"#/properties/ctrl/properties/rateLimiter/properties/decreaseCheckInterval/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err80];
}
else {
vErrors.push(err80);
}
errors++;
}
}
}
}
else {
const err81 = {instancePath:instancePath+"/ctrl/rateLimiter",schemaPath:"#/properties/ctrl/properties/rateLimiter/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err81];
}
else {
vErrors.push(err81);
}
errors++;
}
}
if(data11.listeners !== undefined){
let data41 = data11.listeners;
if(Array.isArray(data41)){
const len2 = data41.length;
for(let i2=0; i2<len2; i2++){
let data42 = data41[i2];
if(data42 && typeof data42 == "object" && !Array.isArray(data42)){
if(data42.bind === undefined){
const err82 = {instancePath:instancePath+"/ctrl/listeners/" + i2,schemaPath:"#/properties/ctrl/properties/listeners/items/required",keyword:"required",params:{missingProperty: "bind"}};
if(vErrors === null){
vErrors = [err82];
}
else {
vErrors.push(err82);
}
errors++;
}
for(const key7 in data42){
if(!(((((key7 === "bind") || (key7 === "advertise")) || (key7 === "bindInterface")) || (key7 === "groups")) || (key7 === "options"))){
const err83 = {instancePath:instancePath+"/ctrl/listeners/" + i2,schemaPath:"#/properties/ctrl/properties/listeners/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7}};
if(vErrors === null){
vErrors = [err83];
}
else {
vErrors.push(err83);
}
errors++;
}
}
if(data42.bind !== undefined){
let data43 = data42.bind;
if(typeof data43 === "string"){
if(!(formats0(data43))){
const err84 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/bind",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/bind/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err84];
}
else {
vErrors.push(err84);
}
errors++;
}
}
else {
const err85 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/bind",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/bind/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err85];
}
else {
vErrors.push(err85);
}
errors++;
}
}
if(data42.advertise !== undefined){
let data44 = data42.advertise;
if(typeof data44 === "string"){
if(!(formats0(data44))){
const err86 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/advertise",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/advertise/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err86];
}
else {
vErrors.push(err86);
}
errors++;
}
}
else {
const err87 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/advertise",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err87];
}
else {
vErrors.push(err87);
}
errors++;
}
}
if(data42.bindInterface !== undefined){
if(typeof data42.bindInterface !== "string"){
const err88 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/bindInterface",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/bindInterface/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err88];
}
else {
vErrors.push(err88);
}
errors++;
}
}
if(data42.groups !== undefined){
let data46 = data42.groups;
if((typeof data46 !== "string") && (!(Array.isArray(data46)))){
const err89 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/groups",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/groups/type",keyword:"type",params:{type: schema0.properties.ctrl.properties.listeners.items.properties.groups.type}};
if(vErrors === null){
vErrors = [err89];
}
else {
vErrors.push(err89);
}
errors++;
}
if(Array.isArray(data46)){
const len3 = data46.length;
for(let i3=0; i3<len3; i3++){
if(typeof data46[i3] !== "string"){
const err90 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/groups/" + i3,schemaPath:"#/properties/ctrl/properties/listeners/items/properties/groups/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err90];
}
else {
vErrors.push(err90);
}
errors++;
}
}
}
}
if(data42.options !== undefined){
let data48 = data42.options;
if(data48 && typeof data48 == "object" && !Array.isArray(data48)){
for(const key8 in data48){
if(!((((((key8 === "outQueueSize") || (key8 === "maxQueuedConnects")) || (key8 === "maxOutstandingConnects")) || (key8 === "connectTimeout")) || (key8 === "connectTimeoutMs")) || (key8 === "writeTimeout"))){
const err91 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8}};
if(vErrors === null){
vErrors = [err91];
}
else {
vErrors.push(err91);
}
errors++;
}
}
if(data48.outQueueSize !== undefined){
let data49 = data48.outQueueSize;
if(!(((typeof data49 == "number") && (!(data49 % 1) && !isNaN(data49))) && (isFinite(data49)))){
const err92 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/outQueueSize",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/outQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err92];
}
else {
vErrors.push(err92);
}
errors++;
}
if((typeof data49 == "number") && (isFinite(data49))){
if(data49 < 0 || isNaN(data49)){
const err93 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/outQueueSize",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/outQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err93];
}
else {
vErrors.push(err93);
}
errors++;
}
}
}
if(data48.maxQueuedConnects !== undefined){
let data50 = data48.maxQueuedConnects;
if(!(((typeof data50 == "number") && (!(data50 % 1) && !isNaN(data50))) && (isFinite(data50)))){
const err94 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/maxQueuedConnects",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/maxQueuedConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err94];
}
else {
vErrors.push(err94);
}
errors++;
}
if((typeof data50 == "number") && (isFinite(data50))){
if(data50 < 0 || isNaN(data50)){
const err95 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/maxQueuedConnects",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/maxQueuedConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err95];
}
else {
vErrors.push(err95);
}
errors++;
}
}
}
if(data48.maxOutstandingConnects !== undefined){
let data51 = data48.maxOutstandingConnects;
if(!(((typeof data51 == "number") && (!(data51 % 1) && !isNaN(data51))) && (isFinite(data51)))){
const err96 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/maxOutstandingConnects",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/maxOutstandingConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err96];
}
else {
vErrors.push(err96);
}
errors++;
}
if((typeof data51 == "number") && (isFinite(data51))){
if(data51 > 1000 || isNaN(data51)){
const err97 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/maxOutstandingConnects",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/maxOutstandingConnects/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err97];
}
else {
vErrors.push(err97);
}
errors++;
}
if(data51 < 1 || isNaN(data51)){
const err98 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/maxOutstandingConnects",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/maxOutstandingConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err98];
}
else {
vErrors.push(err98);
}
errors++;
}
}
}
if(data48.connectTimeout !== undefined){
let data52 = data48.connectTimeout;
if(typeof data52 === "string"){
if(!(formats6(data52))){
const err99 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/connectTimeout",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err99];
}
else {
vErrors.push(err99);
}
errors++;
}
}
else {
const err100 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/connectTimeout",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err100];
}
else {
vErrors.push(err100);
}
errors++;
}
}
if(data48.connectTimeoutMs !== undefined){
let data53 = data48.connectTimeoutMs;
if(!(((typeof data53 == "number") && (!(data53 % 1) && !isNaN(data53))) && (isFinite(data53)))){
const err101 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/connectTimeoutMs",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/connectTimeoutMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err101];
}
else {
vErrors.push(err101);
}
errors++;
}
}
if(data48.writeTimeout !== undefined){
let data54 = data48.writeTimeout;
if(typeof data54 === "string"){
if(!(formats6(data54))){
const err102 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/writeTimeout",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/writeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err102];
}
else {
vErrors.push(err102);
}
errors++;
}
}
else {
const err103 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options/writeTimeout",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/properties/writeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err103];
}
else {
vErrors.push(err103);
}
errors++;
}
}
}
else {
const err104 = {instancePath:instancePath+"/ctrl/listeners/" + i2+"/options",schemaPath:"#/properties/ctrl/properties/listeners/items/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err104];
}
else {
vErrors.push(err104);
}
errors++;
}
}
}
else {
const err105 = {instancePath:instancePath+"/ctrl/listeners/" + i2,schemaPath:"#/properties/ctrl/properties/listeners/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err105];
}
else {
vErrors.push(err105);
}
errors++;
}
}
}
else {
const err106 = {instancePath:instancePath+"/ctrl/listeners",schemaPath:"#/properties/ctrl/properties/listeners/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err106];
}
else {
vErrors.push(err106);
}
errors++;
}
}
}
else {
const err107 = {instancePath:instancePath+"/ctrl",schemaPath:"#/properties/ctrl/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err107];
}
else {
vErrors.push(err107);
}
errors++;
}
}
if(data.csr !== undefined){
let data55 = data.csr;
if(data55 && typeof data55 == "object" && !Array.isArray(data55)){
for(const key9 in data55){
if(!((((((key9 === "country") || (key9 === "province")) || (key9 === "locality")) || (key9 === "organization")) || (key9 === "organizationalUnit")) || (key9 === "sans"))){
const err108 = {instancePath:instancePath+"/csr",schemaPath:"#/properties/csr/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9}};
if(vErrors === null){
vErrors = [err108];
}
else {
vErrors.push(err108);
}
errors++;
}
}
if(data55.country !== undefined){
if(typeof data55.country !== "string"){
const err109 = {instancePath:instancePath+"/csr/country",schemaPath:"#/properties/csr/properties/country/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err109];
}
else {
vErrors.push(err109);
}
errors++;
}
}
if(data55.province !== undefined){
if(typeof data55.province !== "string"){
const err110 = {instancePath:instancePath+"/csr/province",schemaPath:"#/properties/csr/properties/province/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err110];
}
else {
vErrors.push(err110);
}
errors++;
}
}
if(data55.locality !== undefined){
if(typeof data55.locality !== "string"){
const err111 = {instancePath:instancePath+"/csr/locality",schemaPath:"#/properties/csr/properties/locality/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err111];
}
else {
vErrors.push(err111);
}
errors++;
}
}
if(data55.organization !== undefined){
if(typeof data55.organization !== "string"){
const err112 = {instancePath:instancePath+"/csr/organization",schemaPath:"#/properties/csr/properties/organization/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err112];
}
else {
vErrors.push(err112);
}
errors++;
}
}
if(data55.organizationalUnit !== undefined){
if(typeof data55.organizationalUnit !== "string"){
const err113 = {instancePath:instancePath+"/csr/organizationalUnit",schemaPath:"#/properties/csr/properties/organizationalUnit/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err113];
}
else {
vErrors.push(err113);
}
errors++;
}
}
if(data55.sans !== undefined){
let data61 = data55.sans;
if(data61 && typeof data61 == "object" && !Array.isArray(data61)){
for(const key10 in data61){
if(!((((key10 === "dns") || (key10 === "ip")) || (key10 === "uri")) || (key10 === "email"))){
const err114 = {instancePath:instancePath+"/csr/sans",schemaPath:"#/properties/csr/properties/sans/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10}};
if(vErrors === null){
vErrors = [err114];
}
else {
vErrors.push(err114);
}
errors++;
}
}
if(data61.dns !== undefined){
let data62 = data61.dns;
if(Array.isArray(data62)){
const len4 = data62.length;
for(let i4=0; i4<len4; i4++){
if(typeof data62[i4] !== "string"){
const err115 = {instancePath:instancePath+"/csr/sans/dns/" + i4,schemaPath:"#/properties/csr/properties/sans/properties/dns/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err115];
}
else {
vErrors.push(err115);
}
errors++;
}
}
}
else {
const err116 = {instancePath:instancePath+"/csr/sans/dns",schemaPath:"#/properties/csr/properties/sans/properties/dns/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err116];
}
else {
vErrors.push(err116);
}
errors++;
}
}
if(data61.ip !== undefined){
let data64 = data61.ip;
if(Array.isArray(data64)){
const len5 = data64.length;
for(let i5=0; i5<len5; i5++){
let data65 = data64[i5];
if(typeof data65 === "string"){
if(!(formats32(data65))){
const err117 = {instancePath:instancePath+"/csr/sans/ip/" + i5,schemaPath:"#/properties/csr/properties/sans/properties/ip/items/format",keyword:"format",params:{format: "ip"}};
if(vErrors === null){
vErrors = [err117];
}
else {
vErrors.push(err117);
}
errors++;
}
}
else {
const err118 = {instancePath:instancePath+"/csr/sans/ip/" + i5,schemaPath:"#/properties/csr/properties/sans/properties/ip/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err118];
}
else {
vErrors.push(err118);
}
errors++;
}
}
}
else {
const err119 = {instancePath:instancePath+"/csr/sans/ip",schemaPath:"#/properties/csr/properties/sans/properties/ip/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err119];
}
else {
vErrors.push(err119);
}
errors++;
}
}
if(data61.uri !== undefined){
let data66 = data61.uri;
if(Array.isArray(data66)){
const len6 = data66.length;
for(let i6=0; i6<len6; i6++){
let data67 = data66[i6];
if(typeof data67 === "string"){
if(!(formats34(data67))){
const err120 = {instancePath:instancePath+"/csr/sans/uri/" + i6,schemaPath:"#/properties/csr/properties/sans/properties/uri/items/format",keyword:"format",params:{format: "uri-reference"}};
if(vErrors === null){
vErrors = [err120];
}
else {
vErrors.push(err120);
}
errors++;
}
}
else {
const err121 = {instancePath:instancePath+"/csr/sans/uri/" + i6,schemaPath:"#/properties/csr/properties/sans/properties/uri/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err121];
}
else {
vErrors.push(err121);
}
errors++;
}
}
}
else {
const err122 = {instancePath:instancePath+"/csr/sans/uri",schemaPath:"#/properties/csr/properties/sans/properties/uri/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err122];
}
else {
vErrors.push(err122);
}
errors++;
}
}
if(data61.email !== undefined){
let data68 = data61.email;
if(Array.isArray(data68)){
const len7 = data68.length;
for(let i7=0; i7<len7; i7++){
if(typeof data68[i7] !== "string"){
const err123 = {instancePath:instancePath+"/csr/sans/email/" + i7,schemaPath:"#/properties/csr/properties/sans/properties/email/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err123];
}
else {
vErrors.push(err123);
}
errors++;
}
}
}
else {
const err124 = {instancePath:instancePath+"/csr/sans/email",schemaPath:"#/properties/csr/properties/sans/properties/email/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err124];
}
else {
vErrors.push(err124);
}
errors++;
}
}
}
else {
const err125 = {instancePath:instancePath+"/csr/sans",schemaPath:"#/properties/csr/properties/sans/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err125];
}
else {
vErrors.push(err125);
}
errors++;
}
}
}
else {
const err126 = {instancePath:instancePath+"/csr",schemaPath:"#/properties/csr/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err126];
}
else {
vErrors.push(err126);
}
errors++;
}
}
if(data.edge !== undefined){
let data70 = data.edge;
if(data70 && typeof data70 == "object" && !Array.isArray(data70)){
for(const key11 in data70){
if(!((((((((key11 === "csr") || (key11 === "heartbeatIntervalSeconds")) || (key11 === "sessionValidateChunkSize")) || (key11 === "sessionValidateMinInterval")) || (key11 === "sessionValidateMaxInterval")) || (key11 === "db")) || (key11 === "dbSaveIntervalSeconds")) || (key11 === "apiProxy"))){
const err127 = {instancePath:instancePath+"/edge",schemaPath:"#/properties/edge/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key11}};
if(vErrors === null){
vErrors = [err127];
}
else {
vErrors.push(err127);
}
errors++;
}
}
if(data70.csr !== undefined){
let data71 = data70.csr;
if(data71 && typeof data71 == "object" && !Array.isArray(data71)){
for(const key12 in data71){
if(!((((((key12 === "country") || (key12 === "province")) || (key12 === "locality")) || (key12 === "organization")) || (key12 === "organizationalUnit")) || (key12 === "sans"))){
const err128 = {instancePath:instancePath+"/edge/csr",schemaPath:"#/properties/edge/properties/csr/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key12}};
if(vErrors === null){
vErrors = [err128];
}
else {
vErrors.push(err128);
}
errors++;
}
}
if(data71.country !== undefined){
if(typeof data71.country !== "string"){
const err129 = {instancePath:instancePath+"/edge/csr/country",schemaPath:"#/properties/edge/properties/csr/properties/country/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err129];
}
else {
vErrors.push(err129);
}
errors++;
}
}
if(data71.province !== undefined){
if(typeof data71.province !== "string"){
const err130 = {instancePath:instancePath+"/edge/csr/province",schemaPath:"#/properties/edge/properties/csr/properties/province/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err130];
}
else {
vErrors.push(err130);
}
errors++;
}
}
if(data71.locality !== undefined){
if(typeof data71.locality !== "string"){
const err131 = {instancePath:instancePath+"/edge/csr/locality",schemaPath:"#/properties/edge/properties/csr/properties/locality/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err131];
}
else {
vErrors.push(err131);
}
errors++;
}
}
if(data71.organization !== undefined){
if(typeof data71.organization !== "string"){
const err132 = {instancePath:instancePath+"/edge/csr/organization",schemaPath:"#/properties/edge/properties/csr/properties/organization/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err132];
}
else {
vErrors.push(err132);
}
errors++;
}
}
if(data71.organizationalUnit !== undefined){
if(typeof data71.organizationalUnit !== "string"){
const err133 = {instancePath:instancePath+"/edge/csr/organizationalUnit",schemaPath:"#/properties/edge/properties/csr/properties/organizationalUnit/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err133];
}
else {
vErrors.push(err133);
}
errors++;
}
}
if(data71.sans !== undefined){
let data77 = data71.sans;
if(data77 && typeof data77 == "object" && !Array.isArray(data77)){
for(const key13 in data77){
if(!((((key13 === "dns") || (key13 === "ip")) || (key13 === "uri")) || (key13 === "email"))){
const err134 = {instancePath:instancePath+"/edge/csr/sans",schemaPath:"#/properties/edge/properties/csr/properties/sans/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key13}};
if(vErrors === null){
vErrors = [err134];
}
else {
vErrors.push(err134);
}
errors++;
}
}
if(data77.dns !== undefined){
let data78 = data77.dns;
if(Array.isArray(data78)){
const len8 = data78.length;
for(let i8=0; i8<len8; i8++){
if(typeof data78[i8] !== "string"){
const err135 = {instancePath:instancePath+"/edge/csr/sans/dns/" + i8,schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/dns/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err135];
}
else {
vErrors.push(err135);
}
errors++;
}
}
}
else {
const err136 = {instancePath:instancePath+"/edge/csr/sans/dns",schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/dns/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err136];
}
else {
vErrors.push(err136);
}
errors++;
}
}
if(data77.ip !== undefined){
let data80 = data77.ip;
if(Array.isArray(data80)){
const len9 = data80.length;
for(let i9=0; i9<len9; i9++){
let data81 = data80[i9];
if(typeof data81 === "string"){
if(!(formats32(data81))){
const err137 = {instancePath:instancePath+"/edge/csr/sans/ip/" + i9,schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/ip/items/format",keyword:"format",params:{format: "ip"}};
if(vErrors === null){
vErrors = [err137];
}
else {
vErrors.push(err137);
}
errors++;
}
}
else {
const err138 = {instancePath:instancePath+"/edge/csr/sans/ip/" + i9,schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/ip/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err138];
}
else {
vErrors.push(err138);
}
errors++;
}
}
}
else {
const err139 = {instancePath:instancePath+"/edge/csr/sans/ip",schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/ip/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err139];
}
else {
vErrors.push(err139);
}
errors++;
}
}
if(data77.uri !== undefined){
let data82 = data77.uri;
if(Array.isArray(data82)){
const len10 = data82.length;
for(let i10=0; i10<len10; i10++){
let data83 = data82[i10];
if(typeof data83 === "string"){
if(!(formats34(data83))){
const err140 = {instancePath:instancePath+"/edge/csr/sans/uri/" + i10,schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/uri/items/format",keyword:"format",params:{format: "uri-reference"}};
if(vErrors === null){
vErrors = [err140];
}
else {
vErrors.push(err140);
}
errors++;
}
}
else {
const err141 = {instancePath:instancePath+"/edge/csr/sans/uri/" + i10,schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/uri/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err141];
}
else {
vErrors.push(err141);
}
errors++;
}
}
}
else {
const err142 = {instancePath:instancePath+"/edge/csr/sans/uri",schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/uri/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err142];
}
else {
vErrors.push(err142);
}
errors++;
}
}
if(data77.email !== undefined){
let data84 = data77.email;
if(Array.isArray(data84)){
const len11 = data84.length;
for(let i11=0; i11<len11; i11++){
if(typeof data84[i11] !== "string"){
const err143 = {instancePath:instancePath+"/edge/csr/sans/email/" + i11,schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/email/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err143];
}
else {
vErrors.push(err143);
}
errors++;
}
}
}
else {
const err144 = {instancePath:instancePath+"/edge/csr/sans/email",schemaPath:"#/properties/edge/properties/csr/properties/sans/properties/email/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err144];
}
else {
vErrors.push(err144);
}
errors++;
}
}
}
else {
const err145 = {instancePath:instancePath+"/edge/csr/sans",schemaPath:"#/properties/edge/properties/csr/properties/sans/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err145];
}
else {
vErrors.push(err145);
}
errors++;
}
}
}
else {
const err146 = {instancePath:instancePath+"/edge/csr",schemaPath:"#/properties/edge/properties/csr/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err146];
}
else {
vErrors.push(err146);
}
errors++;
}
}
if(data70.heartbeatIntervalSeconds !== undefined){
let data86 = data70.heartbeatIntervalSeconds;
if(!(((typeof data86 == "number") && (!(data86 % 1) && !isNaN(data86))) && (isFinite(data86)))){
const err147 = {instancePath:instancePath+"/edge/heartbeatIntervalSeconds",schemaPath:"#/properties/edge/properties/heartbeatIntervalSeconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err147];
}
else {
vErrors.push(err147);
}
errors++;
}
}
if(data70.sessionValidateChunkSize !== undefined){
let data87 = data70.sessionValidateChunkSize;
if(!(((typeof data87 == "number") && (!(data87 % 1) && !isNaN(data87))) && (isFinite(data87)))){
const err148 = {instancePath:instancePath+"/edge/sessionValidateChunkSize",schemaPath:"#/properties/edge/properties/sessionValidateChunkSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err148];
}
else {
vErrors.push(err148);
}
errors++;
}
}
if(data70.sessionValidateMinInterval !== undefined){
let data88 = data70.sessionValidateMinInterval;
if(typeof data88 === "string"){
if(!(formats6(data88))){
const err149 = {instancePath:instancePath+"/edge/sessionValidateMinInterval",schemaPath:"#/properties/edge/properties/sessionValidateMinInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err149];
}
else {
vErrors.push(err149);
}
errors++;
}
}
else {
const err150 = {instancePath:instancePath+"/edge/sessionValidateMinInterval",schemaPath:"#/properties/edge/properties/sessionValidateMinInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err150];
}
else {
vErrors.push(err150);
}
errors++;
}
}
if(data70.sessionValidateMaxInterval !== undefined){
let data89 = data70.sessionValidateMaxInterval;
if(typeof data89 === "string"){
if(!(formats6(data89))){
const err151 = {instancePath:instancePath+"/edge/sessionValidateMaxInterval",schemaPath:"#/properties/edge/properties/sessionValidateMaxInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err151];
}
else {
vErrors.push(err151);
}
errors++;
}
}
else {
const err152 = {instancePath:instancePath+"/edge/sessionValidateMaxInterval",schemaPath:"#/properties/edge/properties/sessionValidateMaxInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err152];
}
else {
vErrors.push(err152);
}
errors++;
}
}
if(data70.db !== undefined){
if(typeof data70.db !== "string"){
const err153 = {instancePath:instancePath+"/edge/db",schemaPath:"#/properties/edge/properties/db/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err153];
}
else {
vErrors.push(err153);
}
errors++;
}
}
if(data70.dbSaveIntervalSeconds !== undefined){
let data91 = data70.dbSaveIntervalSeconds;
if(!(((typeof data91 == "number") && (!(data91 % 1) && !isNaN(data91))) && (isFinite(data91)))){
const err154 = {instancePath:instancePath+"/edge/dbSaveIntervalSeconds",schemaPath:"#/properties/edge/properties/dbSaveIntervalSeconds/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err154];
}
else {
vErrors.push(err154);
}
errors++;
}
}
if(data70.apiProxy !== undefined){
let data92 = data70.apiProxy;
if(data92 && typeof data92 == "object" && !Array.isArray(data92)){
if(data92.listener === undefined){
const err155 = {instancePath:instancePath+"/edge/apiProxy",schemaPath:"#/properties/edge/properties/apiProxy/required",keyword:"required",params:{missingProperty: "listener"}};
if(vErrors === null){
vErrors = [err155];
}
else {
vErrors.push(err155);
}
errors++;
}
if(data92.upstream === undefined){
const err156 = {instancePath:instancePath+"/edge/apiProxy",schemaPath:"#/properties/edge/properties/apiProxy/required",keyword:"required",params:{missingProperty: "upstream"}};
if(vErrors === null){
vErrors = [err156];
}
else {
vErrors.push(err156);
}
errors++;
}
for(const key14 in data92){
if(!((key14 === "listener") || (key14 === "upstream"))){
const err157 = {instancePath:instancePath+"/edge/apiProxy",schemaPath:"#/properties/edge/properties/apiProxy/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key14}};
if(vErrors === null){
vErrors = [err157];
}
else {
vErrors.push(err157);
}
errors++;
}
}
if(data92.listener !== undefined){
let data93 = data92.listener;
if(typeof data93 === "string"){
if(!(formats44(data93))){
const err158 = {instancePath:instancePath+"/edge/apiProxy/listener",schemaPath:"#/properties/edge/properties/apiProxy/properties/listener/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err158];
}
else {
vErrors.push(err158);
}
errors++;
}
}
else {
const err159 = {instancePath:instancePath+"/edge/apiProxy/listener",schemaPath:"#/properties/edge/properties/apiProxy/properties/listener/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err159];
}
else {
vErrors.push(err159);
}
errors++;
}
}
if(data92.upstream !== undefined){
let data94 = data92.upstream;
if(typeof data94 === "string"){
if(!(formats44(data94))){
const err160 = {instancePath:instancePath+"/edge/apiProxy/upstream",schemaPath:"#/properties/edge/properties/apiProxy/properties/upstream/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err160];
}
else {
vErrors.push(err160);
}
errors++;
}
}
else {
const err161 = {instancePath:instancePath+"/edge/apiProxy/upstream",schemaPath:"#/properties/edge/properties/apiProxy/properties/upstream/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err161];
}
else {
vErrors.push(err161);
}
errors++;
}
}
}
else {
const err162 = {instancePath:instancePath+"/edge/apiProxy",schemaPath:"#/properties/edge/properties/apiProxy/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err162];
}
else {
vErrors.push(err162);
}
errors++;
}
}
}
else {
const err163 = {instancePath:instancePath+"/edge",schemaPath:"#/properties/edge/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err163];
}
else {
vErrors.push(err163);
}
errors++;
}
}
if(data.forwarder !== undefined){
let data95 = data.forwarder;
if(data95 && typeof data95 == "object" && !Array.isArray(data95)){
for(const key15 in data95){
if(!(func0.call(schema0.properties.forwarder.properties, key15))){
const err164 = {instancePath:instancePath+"/forwarder",schemaPath:"#/properties/forwarder/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key15}};
if(vErrors === null){
vErrors = [err164];
}
else {
vErrors.push(err164);
}
errors++;
}
}
if(data95.faultTxInterval !== undefined){
let data96 = data95.faultTxInterval;
if(!(((typeof data96 == "number") && (!(data96 % 1) && !isNaN(data96))) && (isFinite(data96)))){
const err165 = {instancePath:instancePath+"/forwarder/faultTxInterval",schemaPath:"#/properties/forwarder/properties/faultTxInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err165];
}
else {
vErrors.push(err165);
}
errors++;
}
}
if(data95.idleCircuitTimeout !== undefined){
let data97 = data95.idleCircuitTimeout;
if(!(((typeof data97 == "number") && (!(data97 % 1) && !isNaN(data97))) && (isFinite(data97)))){
const err166 = {instancePath:instancePath+"/forwarder/idleCircuitTimeout",schemaPath:"#/properties/forwarder/properties/idleCircuitTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err166];
}
else {
vErrors.push(err166);
}
errors++;
}
}
if(data95.idleTxInterval !== undefined){
let data98 = data95.idleTxInterval;
if(!(((typeof data98 == "number") && (!(data98 % 1) && !isNaN(data98))) && (isFinite(data98)))){
const err167 = {instancePath:instancePath+"/forwarder/idleTxInterval",schemaPath:"#/properties/forwarder/properties/idleTxInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err167];
}
else {
vErrors.push(err167);
}
errors++;
}
}
if(data95.linkDialQueueLength !== undefined){
let data99 = data95.linkDialQueueLength;
if(!(((typeof data99 == "number") && (!(data99 % 1) && !isNaN(data99))) && (isFinite(data99)))){
const err168 = {instancePath:instancePath+"/forwarder/linkDialQueueLength",schemaPath:"#/properties/forwarder/properties/linkDialQueueLength/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err168];
}
else {
vErrors.push(err168);
}
errors++;
}
if((typeof data99 == "number") && (isFinite(data99))){
if(data99 > 10000 || isNaN(data99)){
const err169 = {instancePath:instancePath+"/forwarder/linkDialQueueLength",schemaPath:"#/properties/forwarder/properties/linkDialQueueLength/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000}};
if(vErrors === null){
vErrors = [err169];
}
else {
vErrors.push(err169);
}
errors++;
}
if(data99 < 1 || isNaN(data99)){
const err170 = {instancePath:instancePath+"/forwarder/linkDialQueueLength",schemaPath:"#/properties/forwarder/properties/linkDialQueueLength/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err170];
}
else {
vErrors.push(err170);
}
errors++;
}
}
}
if(data95.linkDialWorkerCount !== undefined){
let data100 = data95.linkDialWorkerCount;
if(!(((typeof data100 == "number") && (!(data100 % 1) && !isNaN(data100))) && (isFinite(data100)))){
const err171 = {instancePath:instancePath+"/forwarder/linkDialWorkerCount",schemaPath:"#/properties/forwarder/properties/linkDialWorkerCount/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err171];
}
else {
vErrors.push(err171);
}
errors++;
}
if((typeof data100 == "number") && (isFinite(data100))){
if(data100 > 10000 || isNaN(data100)){
const err172 = {instancePath:instancePath+"/forwarder/linkDialWorkerCount",schemaPath:"#/properties/forwarder/properties/linkDialWorkerCount/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000}};
if(vErrors === null){
vErrors = [err172];
}
else {
vErrors.push(err172);
}
errors++;
}
if(data100 < 1 || isNaN(data100)){
const err173 = {instancePath:instancePath+"/forwarder/linkDialWorkerCount",schemaPath:"#/properties/forwarder/properties/linkDialWorkerCount/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err173];
}
else {
vErrors.push(err173);
}
errors++;
}
}
}
if(data95.rateLimitedQueueLength !== undefined){
let data101 = data95.rateLimitedQueueLength;
if(!(((typeof data101 == "number") && (!(data101 % 1) && !isNaN(data101))) && (isFinite(data101)))){
const err174 = {instancePath:instancePath+"/forwarder/rateLimitedQueueLength",schemaPath:"#/properties/forwarder/properties/rateLimitedQueueLength/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err174];
}
else {
vErrors.push(err174);
}
errors++;
}
if((typeof data101 == "number") && (isFinite(data101))){
if(data101 > 50000 || isNaN(data101)){
const err175 = {instancePath:instancePath+"/forwarder/rateLimitedQueueLength",schemaPath:"#/properties/forwarder/properties/rateLimitedQueueLength/maximum",keyword:"maximum",params:{comparison: "<=", limit: 50000}};
if(vErrors === null){
vErrors = [err175];
}
else {
vErrors.push(err175);
}
errors++;
}
if(data101 < 1 || isNaN(data101)){
const err176 = {instancePath:instancePath+"/forwarder/rateLimitedQueueLength",schemaPath:"#/properties/forwarder/properties/rateLimitedQueueLength/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err176];
}
else {
vErrors.push(err176);
}
errors++;
}
}
}
if(data95.rateLimitedWorkerCount !== undefined){
let data102 = data95.rateLimitedWorkerCount;
if(!(((typeof data102 == "number") && (!(data102 % 1) && !isNaN(data102))) && (isFinite(data102)))){
const err177 = {instancePath:instancePath+"/forwarder/rateLimitedWorkerCount",schemaPath:"#/properties/forwarder/properties/rateLimitedWorkerCount/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err177];
}
else {
vErrors.push(err177);
}
errors++;
}
if((typeof data102 == "number") && (isFinite(data102))){
if(data102 > 10000 || isNaN(data102)){
const err178 = {instancePath:instancePath+"/forwarder/rateLimitedWorkerCount",schemaPath:"#/properties/forwarder/properties/rateLimitedWorkerCount/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000}};
if(vErrors === null){
vErrors = [err178];
}
else {
vErrors.push(err178);
}
errors++;
}
if(data102 < 1 || isNaN(data102)){
const err179 = {instancePath:instancePath+"/forwarder/rateLimitedWorkerCount",schemaPath:"#/properties/forwarder/properties/rateLimitedWorkerCount/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err179];
}
else {
vErrors.push(err179);
}
errors++;
}
}
}
if(data95.unresponsiveLinkTimeout !== undefined){
let data103 = data95.unresponsiveLinkTimeout;
if((typeof data103 !== "string") && (!(((typeof data103 == "number") && (!(data103 % 1) && !isNaN(data103))) && (isFinite(data103))))){
const err180 = {instancePath:instancePath+"/forwarder/unresponsiveLinkTimeout",schemaPath:"#/properties/forwarder/properties/unresponsiveLinkTimeout/type",keyword:"type",params:{type: schema0.properties.forwarder.properties.unresponsiveLinkTimeout.type}};
if(vErrors === null){
vErrors = [err180];
}
else {
vErrors.push(err180);
}
errors++;
}
if(typeof data103 === "string"){
if(!(formats48(data103))){
const err181 = {instancePath:instancePath+"/forwarder/unresponsiveLinkTimeout",schemaPath:"#/properties/forwarder/properties/unresponsiveLinkTimeout/format",keyword:"format",params:{format: "duration-or-ms"}};
if(vErrors === null){
vErrors = [err181];
}
else {
vErrors.push(err181);
}
errors++;
}
}
}
if(data95.xgressCloseCheckInterval !== undefined){
let data104 = data95.xgressCloseCheckInterval;
if(!(((typeof data104 == "number") && (!(data104 % 1) && !isNaN(data104))) && (isFinite(data104)))){
const err182 = {instancePath:instancePath+"/forwarder/xgressCloseCheckInterval",schemaPath:"#/properties/forwarder/properties/xgressCloseCheckInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err182];
}
else {
vErrors.push(err182);
}
errors++;
}
if((typeof data104 == "number") && (isFinite(data104))){
if(data104 < 1 || isNaN(data104)){
const err183 = {instancePath:instancePath+"/forwarder/xgressCloseCheckInterval",schemaPath:"#/properties/forwarder/properties/xgressCloseCheckInterval/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err183];
}
else {
vErrors.push(err183);
}
errors++;
}
}
}
if(data95.xgressDialDwellTime !== undefined){
let data105 = data95.xgressDialDwellTime;
if(!(((typeof data105 == "number") && (!(data105 % 1) && !isNaN(data105))) && (isFinite(data105)))){
const err184 = {instancePath:instancePath+"/forwarder/xgressDialDwellTime",schemaPath:"#/properties/forwarder/properties/xgressDialDwellTime/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err184];
}
else {
vErrors.push(err184);
}
errors++;
}
}
if(data95.xgressDialQueueLength !== undefined){
let data106 = data95.xgressDialQueueLength;
if(!(((typeof data106 == "number") && (!(data106 % 1) && !isNaN(data106))) && (isFinite(data106)))){
const err185 = {instancePath:instancePath+"/forwarder/xgressDialQueueLength",schemaPath:"#/properties/forwarder/properties/xgressDialQueueLength/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err185];
}
else {
vErrors.push(err185);
}
errors++;
}
if((typeof data106 == "number") && (isFinite(data106))){
if(data106 > 10000 || isNaN(data106)){
const err186 = {instancePath:instancePath+"/forwarder/xgressDialQueueLength",schemaPath:"#/properties/forwarder/properties/xgressDialQueueLength/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000}};
if(vErrors === null){
vErrors = [err186];
}
else {
vErrors.push(err186);
}
errors++;
}
if(data106 < 1 || isNaN(data106)){
const err187 = {instancePath:instancePath+"/forwarder/xgressDialQueueLength",schemaPath:"#/properties/forwarder/properties/xgressDialQueueLength/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err187];
}
else {
vErrors.push(err187);
}
errors++;
}
}
}
if(data95.xgressDialWorkerCount !== undefined){
let data107 = data95.xgressDialWorkerCount;
if(!(((typeof data107 == "number") && (!(data107 % 1) && !isNaN(data107))) && (isFinite(data107)))){
const err188 = {instancePath:instancePath+"/forwarder/xgressDialWorkerCount",schemaPath:"#/properties/forwarder/properties/xgressDialWorkerCount/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err188];
}
else {
vErrors.push(err188);
}
errors++;
}
if((typeof data107 == "number") && (isFinite(data107))){
if(data107 > 10000 || isNaN(data107)){
const err189 = {instancePath:instancePath+"/forwarder/xgressDialWorkerCount",schemaPath:"#/properties/forwarder/properties/xgressDialWorkerCount/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000}};
if(vErrors === null){
vErrors = [err189];
}
else {
vErrors.push(err189);
}
errors++;
}
if(data107 < 1 || isNaN(data107)){
const err190 = {instancePath:instancePath+"/forwarder/xgressDialWorkerCount",schemaPath:"#/properties/forwarder/properties/xgressDialWorkerCount/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err190];
}
else {
vErrors.push(err190);
}
errors++;
}
}
}
if(data95.latencyProbeInterval !== undefined){
let data108 = data95.latencyProbeInterval;
if(!(((typeof data108 == "number") && (!(data108 % 1) && !isNaN(data108))) && (isFinite(data108)))){
const err191 = {instancePath:instancePath+"/forwarder/latencyProbeInterval",schemaPath:"#/properties/forwarder/properties/latencyProbeInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err191];
}
else {
vErrors.push(err191);
}
errors++;
}
}
}
else {
const err192 = {instancePath:instancePath+"/forwarder",schemaPath:"#/properties/forwarder/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err192];
}
else {
vErrors.push(err192);
}
errors++;
}
}
if(data.healthChecks !== undefined){
let data109 = data.healthChecks;
if(data109 && typeof data109 == "object" && !Array.isArray(data109)){
for(const key16 in data109){
if(!((key16 === "ctrlPingCheck") || (key16 === "linkCheck"))){
const err193 = {instancePath:instancePath+"/healthChecks",schemaPath:"#/properties/healthChecks/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key16}};
if(vErrors === null){
vErrors = [err193];
}
else {
vErrors.push(err193);
}
errors++;
}
}
if(data109.ctrlPingCheck !== undefined){
let data110 = data109.ctrlPingCheck;
if(data110 && typeof data110 == "object" && !Array.isArray(data110)){
for(const key17 in data110){
if(!(((key17 === "interval") || (key17 === "timeout")) || (key17 === "initialDelay"))){
const err194 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key17}};
if(vErrors === null){
vErrors = [err194];
}
else {
vErrors.push(err194);
}
errors++;
}
}
if(data110.interval !== undefined){
let data111 = data110.interval;
if(typeof data111 === "string"){
if(!(formats6(data111))){
const err195 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck/interval",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/properties/interval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err195];
}
else {
vErrors.push(err195);
}
errors++;
}
}
else {
const err196 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck/interval",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/properties/interval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err196];
}
else {
vErrors.push(err196);
}
errors++;
}
}
if(data110.timeout !== undefined){
let data112 = data110.timeout;
if(typeof data112 === "string"){
if(!(formats6(data112))){
const err197 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck/timeout",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/properties/timeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err197];
}
else {
vErrors.push(err197);
}
errors++;
}
}
else {
const err198 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck/timeout",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/properties/timeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err198];
}
else {
vErrors.push(err198);
}
errors++;
}
}
if(data110.initialDelay !== undefined){
let data113 = data110.initialDelay;
if(typeof data113 === "string"){
if(!(formats6(data113))){
const err199 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck/initialDelay",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/properties/initialDelay/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err199];
}
else {
vErrors.push(err199);
}
errors++;
}
}
else {
const err200 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck/initialDelay",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/properties/initialDelay/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err200];
}
else {
vErrors.push(err200);
}
errors++;
}
}
}
else {
const err201 = {instancePath:instancePath+"/healthChecks/ctrlPingCheck",schemaPath:"#/properties/healthChecks/properties/ctrlPingCheck/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err201];
}
else {
vErrors.push(err201);
}
errors++;
}
}
if(data109.linkCheck !== undefined){
let data114 = data109.linkCheck;
if(data114 && typeof data114 == "object" && !Array.isArray(data114)){
for(const key18 in data114){
if(!(((key18 === "interval") || (key18 === "initialDelay")) || (key18 === "minLinks"))){
const err202 = {instancePath:instancePath+"/healthChecks/linkCheck",schemaPath:"#/properties/healthChecks/properties/linkCheck/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key18}};
if(vErrors === null){
vErrors = [err202];
}
else {
vErrors.push(err202);
}
errors++;
}
}
if(data114.interval !== undefined){
let data115 = data114.interval;
if(typeof data115 === "string"){
if(!(formats6(data115))){
const err203 = {instancePath:instancePath+"/healthChecks/linkCheck/interval",schemaPath:"#/properties/healthChecks/properties/linkCheck/properties/interval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err203];
}
else {
vErrors.push(err203);
}
errors++;
}
}
else {
const err204 = {instancePath:instancePath+"/healthChecks/linkCheck/interval",schemaPath:"#/properties/healthChecks/properties/linkCheck/properties/interval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err204];
}
else {
vErrors.push(err204);
}
errors++;
}
}
if(data114.initialDelay !== undefined){
let data116 = data114.initialDelay;
if(typeof data116 === "string"){
if(!(formats6(data116))){
const err205 = {instancePath:instancePath+"/healthChecks/linkCheck/initialDelay",schemaPath:"#/properties/healthChecks/properties/linkCheck/properties/initialDelay/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err205];
}
else {
vErrors.push(err205);
}
errors++;
}
}
else {
const err206 = {instancePath:instancePath+"/healthChecks/linkCheck/initialDelay",schemaPath:"#/properties/healthChecks/properties/linkCheck/properties/initialDelay/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err206];
}
else {
vErrors.push(err206);
}
errors++;
}
}
if(data114.minLinks !== undefined){
let data117 = data114.minLinks;
if(!(((typeof data117 == "number") && (!(data117 % 1) && !isNaN(data117))) && (isFinite(data117)))){
const err207 = {instancePath:instancePath+"/healthChecks/linkCheck/minLinks",schemaPath:"#/properties/healthChecks/properties/linkCheck/properties/minLinks/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err207];
}
else {
vErrors.push(err207);
}
errors++;
}
}
}
else {
const err208 = {instancePath:instancePath+"/healthChecks/linkCheck",schemaPath:"#/properties/healthChecks/properties/linkCheck/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err208];
}
else {
vErrors.push(err208);
}
errors++;
}
}
}
else {
const err209 = {instancePath:instancePath+"/healthChecks",schemaPath:"#/properties/healthChecks/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err209];
}
else {
vErrors.push(err209);
}
errors++;
}
}
if(data.link !== undefined){
let data118 = data.link;
if(data118 && typeof data118 == "object" && !Array.isArray(data118)){
for(const key19 in data118){
if(!(((((key19 === "listeners") || (key19 === "dialers")) || (key19 === "heartbeats")) || (key19 === "payloadSenderQueueSize")) || (key19 === "ackSenderQueueSize"))){
const err210 = {instancePath:instancePath+"/link",schemaPath:"#/properties/link/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key19}};
if(vErrors === null){
vErrors = [err210];
}
else {
vErrors.push(err210);
}
errors++;
}
}
if(data118.listeners !== undefined){
let data119 = data118.listeners;
if(Array.isArray(data119)){
const len12 = data119.length;
for(let i12=0; i12<len12; i12++){
let data120 = data119[i12];
if(data120 && typeof data120 == "object" && !Array.isArray(data120)){
if(data120.bind === undefined){
const err211 = {instancePath:instancePath+"/link/listeners/" + i12,schemaPath:"#/properties/link/properties/listeners/items/required",keyword:"required",params:{missingProperty: "bind"}};
if(vErrors === null){
vErrors = [err211];
}
else {
vErrors.push(err211);
}
errors++;
}
for(const key20 in data120){
if(!((((((key20 === "binding") || (key20 === "bind")) || (key20 === "advertise")) || (key20 === "bindInterface")) || (key20 === "groups")) || (key20 === "options"))){
const err212 = {instancePath:instancePath+"/link/listeners/" + i12,schemaPath:"#/properties/link/properties/listeners/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key20}};
if(vErrors === null){
vErrors = [err212];
}
else {
vErrors.push(err212);
}
errors++;
}
}
if(data120.binding !== undefined){
let data121 = data120.binding;
if(typeof data121 !== "string"){
const err213 = {instancePath:instancePath+"/link/listeners/" + i12+"/binding",schemaPath:"#/properties/link/properties/listeners/items/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err213];
}
else {
vErrors.push(err213);
}
errors++;
}
if(!((data121 === "transport") || (data121 === ""))){
const err214 = {instancePath:instancePath+"/link/listeners/" + i12+"/binding",schemaPath:"#/properties/link/properties/listeners/items/properties/binding/enum",keyword:"enum",params:{allowedValues: schema0.properties.link.properties.listeners.items.properties.binding.enum}};
if(vErrors === null){
vErrors = [err214];
}
else {
vErrors.push(err214);
}
errors++;
}
}
if(data120.bind !== undefined){
let data122 = data120.bind;
if(typeof data122 === "string"){
if(!(formats0(data122))){
const err215 = {instancePath:instancePath+"/link/listeners/" + i12+"/bind",schemaPath:"#/properties/link/properties/listeners/items/properties/bind/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err215];
}
else {
vErrors.push(err215);
}
errors++;
}
}
else {
const err216 = {instancePath:instancePath+"/link/listeners/" + i12+"/bind",schemaPath:"#/properties/link/properties/listeners/items/properties/bind/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err216];
}
else {
vErrors.push(err216);
}
errors++;
}
}
if(data120.advertise !== undefined){
let data123 = data120.advertise;
if(typeof data123 === "string"){
if(!(formats0(data123))){
const err217 = {instancePath:instancePath+"/link/listeners/" + i12+"/advertise",schemaPath:"#/properties/link/properties/listeners/items/properties/advertise/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err217];
}
else {
vErrors.push(err217);
}
errors++;
}
}
else {
const err218 = {instancePath:instancePath+"/link/listeners/" + i12+"/advertise",schemaPath:"#/properties/link/properties/listeners/items/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err218];
}
else {
vErrors.push(err218);
}
errors++;
}
}
if(data120.bindInterface !== undefined){
if(typeof data120.bindInterface !== "string"){
const err219 = {instancePath:instancePath+"/link/listeners/" + i12+"/bindInterface",schemaPath:"#/properties/link/properties/listeners/items/properties/bindInterface/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err219];
}
else {
vErrors.push(err219);
}
errors++;
}
}
if(data120.groups !== undefined){
let data125 = data120.groups;
if((typeof data125 !== "string") && (!(Array.isArray(data125)))){
const err220 = {instancePath:instancePath+"/link/listeners/" + i12+"/groups",schemaPath:"#/properties/link/properties/listeners/items/properties/groups/type",keyword:"type",params:{type: schema0.properties.link.properties.listeners.items.properties.groups.type}};
if(vErrors === null){
vErrors = [err220];
}
else {
vErrors.push(err220);
}
errors++;
}
if(Array.isArray(data125)){
const len13 = data125.length;
for(let i13=0; i13<len13; i13++){
if(typeof data125[i13] !== "string"){
const err221 = {instancePath:instancePath+"/link/listeners/" + i12+"/groups/" + i13,schemaPath:"#/properties/link/properties/listeners/items/properties/groups/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err221];
}
else {
vErrors.push(err221);
}
errors++;
}
}
}
}
if(data120.options !== undefined){
let data127 = data120.options;
if(data127 && typeof data127 == "object" && !Array.isArray(data127)){
for(const key21 in data127){
if(!((((((key21 === "outQueueSize") || (key21 === "maxQueuedConnects")) || (key21 === "maxOutstandingConnects")) || (key21 === "connectTimeout")) || (key21 === "connectTimeoutMs")) || (key21 === "writeTimeout"))){
const err222 = {instancePath:instancePath+"/link/listeners/" + i12+"/options",schemaPath:"#/properties/link/properties/listeners/items/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key21}};
if(vErrors === null){
vErrors = [err222];
}
else {
vErrors.push(err222);
}
errors++;
}
}
if(data127.outQueueSize !== undefined){
let data128 = data127.outQueueSize;
if(!(((typeof data128 == "number") && (!(data128 % 1) && !isNaN(data128))) && (isFinite(data128)))){
const err223 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/outQueueSize",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/outQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err223];
}
else {
vErrors.push(err223);
}
errors++;
}
if((typeof data128 == "number") && (isFinite(data128))){
if(data128 < 0 || isNaN(data128)){
const err224 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/outQueueSize",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/outQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err224];
}
else {
vErrors.push(err224);
}
errors++;
}
}
}
if(data127.maxQueuedConnects !== undefined){
let data129 = data127.maxQueuedConnects;
if(!(((typeof data129 == "number") && (!(data129 % 1) && !isNaN(data129))) && (isFinite(data129)))){
const err225 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/maxQueuedConnects",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/maxQueuedConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err225];
}
else {
vErrors.push(err225);
}
errors++;
}
if((typeof data129 == "number") && (isFinite(data129))){
if(data129 < 0 || isNaN(data129)){
const err226 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/maxQueuedConnects",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/maxQueuedConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err226];
}
else {
vErrors.push(err226);
}
errors++;
}
}
}
if(data127.maxOutstandingConnects !== undefined){
let data130 = data127.maxOutstandingConnects;
if(!(((typeof data130 == "number") && (!(data130 % 1) && !isNaN(data130))) && (isFinite(data130)))){
const err227 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/maxOutstandingConnects",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/maxOutstandingConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err227];
}
else {
vErrors.push(err227);
}
errors++;
}
if((typeof data130 == "number") && (isFinite(data130))){
if(data130 < 1 || isNaN(data130)){
const err228 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/maxOutstandingConnects",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/maxOutstandingConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err228];
}
else {
vErrors.push(err228);
}
errors++;
}
}
}
if(data127.connectTimeout !== undefined){
let data131 = data127.connectTimeout;
if(typeof data131 === "string"){
if(!(formats6(data131))){
const err229 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/connectTimeout",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err229];
}
else {
vErrors.push(err229);
}
errors++;
}
}
else {
const err230 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/connectTimeout",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err230];
}
else {
vErrors.push(err230);
}
errors++;
}
}
if(data127.connectTimeoutMs !== undefined){
let data132 = data127.connectTimeoutMs;
if(!(((typeof data132 == "number") && (!(data132 % 1) && !isNaN(data132))) && (isFinite(data132)))){
const err231 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/connectTimeoutMs",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/connectTimeoutMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err231];
}
else {
vErrors.push(err231);
}
errors++;
}
if((typeof data132 == "number") && (isFinite(data132))){
if(data132 > 60000 || isNaN(data132)){
const err232 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/connectTimeoutMs",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/connectTimeoutMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 60000}};
if(vErrors === null){
vErrors = [err232];
}
else {
vErrors.push(err232);
}
errors++;
}
if(data132 < 30 || isNaN(data132)){
const err233 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/connectTimeoutMs",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/connectTimeoutMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 30}};
if(vErrors === null){
vErrors = [err233];
}
else {
vErrors.push(err233);
}
errors++;
}
}
}
if(data127.writeTimeout !== undefined){
let data133 = data127.writeTimeout;
if(typeof data133 === "string"){
if(!(formats6(data133))){
const err234 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/writeTimeout",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/writeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err234];
}
else {
vErrors.push(err234);
}
errors++;
}
}
else {
const err235 = {instancePath:instancePath+"/link/listeners/" + i12+"/options/writeTimeout",schemaPath:"#/properties/link/properties/listeners/items/properties/options/properties/writeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err235];
}
else {
vErrors.push(err235);
}
errors++;
}
}
}
else {
const err236 = {instancePath:instancePath+"/link/listeners/" + i12+"/options",schemaPath:"#/properties/link/properties/listeners/items/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err236];
}
else {
vErrors.push(err236);
}
errors++;
}
}
}
else {
const err237 = {instancePath:instancePath+"/link/listeners/" + i12,schemaPath:"#/properties/link/properties/listeners/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err237];
}
else {
vErrors.push(err237);
}
errors++;
}
}
}
else {
const err238 = {instancePath:instancePath+"/link/listeners",schemaPath:"#/properties/link/properties/listeners/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err238];
}
else {
vErrors.push(err238);
}
errors++;
}
}
if(data118.dialers !== undefined){
let data134 = data118.dialers;
if(Array.isArray(data134)){
const len14 = data134.length;
for(let i14=0; i14<len14; i14++){
let data135 = data134[i14];
if(data135 && typeof data135 == "object" && !Array.isArray(data135)){
for(const key22 in data135){
if(!(func0.call(schema0.properties.link.properties.dialers.items.properties, key22))){
const err239 = {instancePath:instancePath+"/link/dialers/" + i14,schemaPath:"#/properties/link/properties/dialers/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key22}};
if(vErrors === null){
vErrors = [err239];
}
else {
vErrors.push(err239);
}
errors++;
}
}
if(data135.binding !== undefined){
let data136 = data135.binding;
if(typeof data136 !== "string"){
const err240 = {instancePath:instancePath+"/link/dialers/" + i14+"/binding",schemaPath:"#/properties/link/properties/dialers/items/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err240];
}
else {
vErrors.push(err240);
}
errors++;
}
if(!((data136 === "transport") || (data136 === ""))){
const err241 = {instancePath:instancePath+"/link/dialers/" + i14+"/binding",schemaPath:"#/properties/link/properties/dialers/items/properties/binding/enum",keyword:"enum",params:{allowedValues: schema0.properties.link.properties.dialers.items.properties.binding.enum}};
if(vErrors === null){
vErrors = [err241];
}
else {
vErrors.push(err241);
}
errors++;
}
}
if(data135.split !== undefined){
if(typeof data135.split !== "boolean"){
const err242 = {instancePath:instancePath+"/link/dialers/" + i14+"/split",schemaPath:"#/properties/link/properties/dialers/items/properties/split/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err242];
}
else {
vErrors.push(err242);
}
errors++;
}
}
if(data135.bind !== undefined){
let data138 = data135.bind;
if(typeof data138 === "string"){
if(!(formats4(data138))){
const err243 = {instancePath:instancePath+"/link/dialers/" + i14+"/bind",schemaPath:"#/properties/link/properties/dialers/items/properties/bind/format",keyword:"format",params:{format: "interface"}};
if(vErrors === null){
vErrors = [err243];
}
else {
vErrors.push(err243);
}
errors++;
}
}
else {
const err244 = {instancePath:instancePath+"/link/dialers/" + i14+"/bind",schemaPath:"#/properties/link/properties/dialers/items/properties/bind/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err244];
}
else {
vErrors.push(err244);
}
errors++;
}
}
if(data135.bindInterface !== undefined){
let data139 = data135.bindInterface;
if(typeof data139 === "string"){
if(!(formats4(data139))){
const err245 = {instancePath:instancePath+"/link/dialers/" + i14+"/bindInterface",schemaPath:"#/properties/link/properties/dialers/items/properties/bindInterface/format",keyword:"format",params:{format: "interface"}};
if(vErrors === null){
vErrors = [err245];
}
else {
vErrors.push(err245);
}
errors++;
}
}
else {
const err246 = {instancePath:instancePath+"/link/dialers/" + i14+"/bindInterface",schemaPath:"#/properties/link/properties/dialers/items/properties/bindInterface/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err246];
}
else {
vErrors.push(err246);
}
errors++;
}
}
if(data135.groups !== undefined){
let data140 = data135.groups;
if((typeof data140 !== "string") && (!(Array.isArray(data140)))){
const err247 = {instancePath:instancePath+"/link/dialers/" + i14+"/groups",schemaPath:"#/properties/link/properties/dialers/items/properties/groups/type",keyword:"type",params:{type: schema0.properties.link.properties.dialers.items.properties.groups.type}};
if(vErrors === null){
vErrors = [err247];
}
else {
vErrors.push(err247);
}
errors++;
}
if(Array.isArray(data140)){
const len15 = data140.length;
for(let i15=0; i15<len15; i15++){
if(typeof data140[i15] !== "string"){
const err248 = {instancePath:instancePath+"/link/dialers/" + i14+"/groups/" + i15,schemaPath:"#/properties/link/properties/dialers/items/properties/groups/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err248];
}
else {
vErrors.push(err248);
}
errors++;
}
}
}
}
if(data135.maxDefaultConnections !== undefined){
let data142 = data135.maxDefaultConnections;
if(!(((typeof data142 == "number") && (!(data142 % 1) && !isNaN(data142))) && (isFinite(data142)))){
const err249 = {instancePath:instancePath+"/link/dialers/" + i14+"/maxDefaultConnections",schemaPath:"#/properties/link/properties/dialers/items/properties/maxDefaultConnections/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err249];
}
else {
vErrors.push(err249);
}
errors++;
}
if((typeof data142 == "number") && (isFinite(data142))){
if(data142 > 100 || isNaN(data142)){
const err250 = {instancePath:instancePath+"/link/dialers/" + i14+"/maxDefaultConnections",schemaPath:"#/properties/link/properties/dialers/items/properties/maxDefaultConnections/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100}};
if(vErrors === null){
vErrors = [err250];
}
else {
vErrors.push(err250);
}
errors++;
}
if(data142 < 1 || isNaN(data142)){
const err251 = {instancePath:instancePath+"/link/dialers/" + i14+"/maxDefaultConnections",schemaPath:"#/properties/link/properties/dialers/items/properties/maxDefaultConnections/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err251];
}
else {
vErrors.push(err251);
}
errors++;
}
}
}
if(data135.maxAckConnections !== undefined){
let data143 = data135.maxAckConnections;
if(!(((typeof data143 == "number") && (!(data143 % 1) && !isNaN(data143))) && (isFinite(data143)))){
const err252 = {instancePath:instancePath+"/link/dialers/" + i14+"/maxAckConnections",schemaPath:"#/properties/link/properties/dialers/items/properties/maxAckConnections/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err252];
}
else {
vErrors.push(err252);
}
errors++;
}
if((typeof data143 == "number") && (isFinite(data143))){
if(data143 > 100 || isNaN(data143)){
const err253 = {instancePath:instancePath+"/link/dialers/" + i14+"/maxAckConnections",schemaPath:"#/properties/link/properties/dialers/items/properties/maxAckConnections/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100}};
if(vErrors === null){
vErrors = [err253];
}
else {
vErrors.push(err253);
}
errors++;
}
if(data143 < 0 || isNaN(data143)){
const err254 = {instancePath:instancePath+"/link/dialers/" + i14+"/maxAckConnections",schemaPath:"#/properties/link/properties/dialers/items/properties/maxAckConnections/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err254];
}
else {
vErrors.push(err254);
}
errors++;
}
}
}
if(data135.startupDelay !== undefined){
let data144 = data135.startupDelay;
if(typeof data144 === "string"){
if(!(formats6(data144))){
const err255 = {instancePath:instancePath+"/link/dialers/" + i14+"/startupDelay",schemaPath:"#/properties/link/properties/dialers/items/properties/startupDelay/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err255];
}
else {
vErrors.push(err255);
}
errors++;
}
}
else {
const err256 = {instancePath:instancePath+"/link/dialers/" + i14+"/startupDelay",schemaPath:"#/properties/link/properties/dialers/items/properties/startupDelay/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err256];
}
else {
vErrors.push(err256);
}
errors++;
}
}
if(data135.options !== undefined){
let data145 = data135.options;
if(data145 && typeof data145 == "object" && !Array.isArray(data145)){
for(const key23 in data145){
if(!((((((key23 === "outQueueSize") || (key23 === "maxQueuedConnects")) || (key23 === "maxOutstandingConnects")) || (key23 === "connectTimeout")) || (key23 === "connectTimeoutMs")) || (key23 === "writeTimeout"))){
const err257 = {instancePath:instancePath+"/link/dialers/" + i14+"/options",schemaPath:"#/properties/link/properties/dialers/items/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key23}};
if(vErrors === null){
vErrors = [err257];
}
else {
vErrors.push(err257);
}
errors++;
}
}
if(data145.outQueueSize !== undefined){
let data146 = data145.outQueueSize;
if(!(((typeof data146 == "number") && (!(data146 % 1) && !isNaN(data146))) && (isFinite(data146)))){
const err258 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/outQueueSize",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/outQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err258];
}
else {
vErrors.push(err258);
}
errors++;
}
if((typeof data146 == "number") && (isFinite(data146))){
if(data146 < 0 || isNaN(data146)){
const err259 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/outQueueSize",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/outQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err259];
}
else {
vErrors.push(err259);
}
errors++;
}
}
}
if(data145.maxQueuedConnects !== undefined){
let data147 = data145.maxQueuedConnects;
if(!(((typeof data147 == "number") && (!(data147 % 1) && !isNaN(data147))) && (isFinite(data147)))){
const err260 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/maxQueuedConnects",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/maxQueuedConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err260];
}
else {
vErrors.push(err260);
}
errors++;
}
if((typeof data147 == "number") && (isFinite(data147))){
if(data147 < 0 || isNaN(data147)){
const err261 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/maxQueuedConnects",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/maxQueuedConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err261];
}
else {
vErrors.push(err261);
}
errors++;
}
}
}
if(data145.maxOutstandingConnects !== undefined){
let data148 = data145.maxOutstandingConnects;
if(!(((typeof data148 == "number") && (!(data148 % 1) && !isNaN(data148))) && (isFinite(data148)))){
const err262 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/maxOutstandingConnects",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/maxOutstandingConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err262];
}
else {
vErrors.push(err262);
}
errors++;
}
if((typeof data148 == "number") && (isFinite(data148))){
if(data148 < 1 || isNaN(data148)){
const err263 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/maxOutstandingConnects",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/maxOutstandingConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err263];
}
else {
vErrors.push(err263);
}
errors++;
}
}
}
if(data145.connectTimeout !== undefined){
let data149 = data145.connectTimeout;
if(typeof data149 === "string"){
if(!(formats6(data149))){
const err264 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/connectTimeout",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err264];
}
else {
vErrors.push(err264);
}
errors++;
}
}
else {
const err265 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/connectTimeout",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err265];
}
else {
vErrors.push(err265);
}
errors++;
}
}
if(data145.connectTimeoutMs !== undefined){
let data150 = data145.connectTimeoutMs;
if(!(((typeof data150 == "number") && (!(data150 % 1) && !isNaN(data150))) && (isFinite(data150)))){
const err266 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/connectTimeoutMs",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/connectTimeoutMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err266];
}
else {
vErrors.push(err266);
}
errors++;
}
if((typeof data150 == "number") && (isFinite(data150))){
if(data150 > 60000 || isNaN(data150)){
const err267 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/connectTimeoutMs",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/connectTimeoutMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 60000}};
if(vErrors === null){
vErrors = [err267];
}
else {
vErrors.push(err267);
}
errors++;
}
if(data150 < 30 || isNaN(data150)){
const err268 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/connectTimeoutMs",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/connectTimeoutMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 30}};
if(vErrors === null){
vErrors = [err268];
}
else {
vErrors.push(err268);
}
errors++;
}
}
}
if(data145.writeTimeout !== undefined){
let data151 = data145.writeTimeout;
if(typeof data151 === "string"){
if(!(formats6(data151))){
const err269 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/writeTimeout",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/writeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err269];
}
else {
vErrors.push(err269);
}
errors++;
}
}
else {
const err270 = {instancePath:instancePath+"/link/dialers/" + i14+"/options/writeTimeout",schemaPath:"#/properties/link/properties/dialers/items/properties/options/properties/writeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err270];
}
else {
vErrors.push(err270);
}
errors++;
}
}
}
else {
const err271 = {instancePath:instancePath+"/link/dialers/" + i14+"/options",schemaPath:"#/properties/link/properties/dialers/items/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err271];
}
else {
vErrors.push(err271);
}
errors++;
}
}
if(data135.healthyDialBackoff !== undefined){
let data152 = data135.healthyDialBackoff;
if(data152 && typeof data152 == "object" && !Array.isArray(data152)){
for(const key24 in data152){
if(!(((key24 === "minRetryInterval") || (key24 === "maxRetryInterval")) || (key24 === "retryBackoffFactor"))){
const err272 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key24}};
if(vErrors === null){
vErrors = [err272];
}
else {
vErrors.push(err272);
}
errors++;
}
}
if(data152.minRetryInterval !== undefined){
let data153 = data152.minRetryInterval;
if(typeof data153 === "string"){
if(!(formats6(data153))){
const err273 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/minRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/minRetryInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err273];
}
else {
vErrors.push(err273);
}
errors++;
}
}
else {
const err274 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/minRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/minRetryInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err274];
}
else {
vErrors.push(err274);
}
errors++;
}
}
if(data152.maxRetryInterval !== undefined){
let data154 = data152.maxRetryInterval;
if(typeof data154 === "string"){
if(!(formats6(data154))){
const err275 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/maxRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/maxRetryInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err275];
}
else {
vErrors.push(err275);
}
errors++;
}
}
else {
const err276 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/maxRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/maxRetryInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err276];
}
else {
vErrors.push(err276);
}
errors++;
}
}
if(data152.retryBackoffFactor !== undefined){
let data155 = data152.retryBackoffFactor;
if((typeof data155 == "number") && (isFinite(data155))){
if(data155 > 100 || isNaN(data155)){
const err277 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/retryBackoffFactor",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/retryBackoffFactor/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100}};
if(vErrors === null){
vErrors = [err277];
}
else {
vErrors.push(err277);
}
errors++;
}
if(data155 < 1 || isNaN(data155)){
const err278 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/retryBackoffFactor",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/retryBackoffFactor/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err278];
}
else {
vErrors.push(err278);
}
errors++;
}
}
else {
const err279 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff/retryBackoffFactor",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/properties/retryBackoffFactor/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err279];
}
else {
vErrors.push(err279);
}
errors++;
}
}
}
else {
const err280 = {instancePath:instancePath+"/link/dialers/" + i14+"/healthyDialBackoff",schemaPath:"#/properties/link/properties/dialers/items/properties/healthyDialBackoff/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err280];
}
else {
vErrors.push(err280);
}
errors++;
}
}
if(data135.unhealthyDialBackoff !== undefined){
let data156 = data135.unhealthyDialBackoff;
if(data156 && typeof data156 == "object" && !Array.isArray(data156)){
for(const key25 in data156){
if(!(((key25 === "minRetryInterval") || (key25 === "maxRetryInterval")) || (key25 === "retryBackoffFactor"))){
const err281 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key25}};
if(vErrors === null){
vErrors = [err281];
}
else {
vErrors.push(err281);
}
errors++;
}
}
if(data156.minRetryInterval !== undefined){
let data157 = data156.minRetryInterval;
if(typeof data157 === "string"){
if(!(formats6(data157))){
const err282 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/minRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/minRetryInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err282];
}
else {
vErrors.push(err282);
}
errors++;
}
}
else {
const err283 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/minRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/minRetryInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err283];
}
else {
vErrors.push(err283);
}
errors++;
}
}
if(data156.maxRetryInterval !== undefined){
let data158 = data156.maxRetryInterval;
if(typeof data158 === "string"){
if(!(formats6(data158))){
const err284 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/maxRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/maxRetryInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err284];
}
else {
vErrors.push(err284);
}
errors++;
}
}
else {
const err285 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/maxRetryInterval",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/maxRetryInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err285];
}
else {
vErrors.push(err285);
}
errors++;
}
}
if(data156.retryBackoffFactor !== undefined){
let data159 = data156.retryBackoffFactor;
if((typeof data159 == "number") && (isFinite(data159))){
if(data159 > 100 || isNaN(data159)){
const err286 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/retryBackoffFactor",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/retryBackoffFactor/maximum",keyword:"maximum",params:{comparison: "<=", limit: 100}};
if(vErrors === null){
vErrors = [err286];
}
else {
vErrors.push(err286);
}
errors++;
}
if(data159 < 1 || isNaN(data159)){
const err287 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/retryBackoffFactor",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/retryBackoffFactor/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err287];
}
else {
vErrors.push(err287);
}
errors++;
}
}
else {
const err288 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff/retryBackoffFactor",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/properties/retryBackoffFactor/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err288];
}
else {
vErrors.push(err288);
}
errors++;
}
}
}
else {
const err289 = {instancePath:instancePath+"/link/dialers/" + i14+"/unhealthyDialBackoff",schemaPath:"#/properties/link/properties/dialers/items/properties/unhealthyDialBackoff/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err289];
}
else {
vErrors.push(err289);
}
errors++;
}
}
}
else {
const err290 = {instancePath:instancePath+"/link/dialers/" + i14,schemaPath:"#/properties/link/properties/dialers/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err290];
}
else {
vErrors.push(err290);
}
errors++;
}
}
}
else {
const err291 = {instancePath:instancePath+"/link/dialers",schemaPath:"#/properties/link/properties/dialers/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err291];
}
else {
vErrors.push(err291);
}
errors++;
}
}
if(data118.heartbeats !== undefined){
let data160 = data118.heartbeats;
if(data160 && typeof data160 == "object" && !Array.isArray(data160)){
for(const key26 in data160){
if(!(((key26 === "sendInterval") || (key26 === "checkInterval")) || (key26 === "closeUnresponsiveTimeout"))){
const err292 = {instancePath:instancePath+"/link/heartbeats",schemaPath:"#/properties/link/properties/heartbeats/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key26}};
if(vErrors === null){
vErrors = [err292];
}
else {
vErrors.push(err292);
}
errors++;
}
}
if(data160.sendInterval !== undefined){
let data161 = data160.sendInterval;
if(typeof data161 === "string"){
if(!(formats6(data161))){
const err293 = {instancePath:instancePath+"/link/heartbeats/sendInterval",schemaPath:"#/properties/link/properties/heartbeats/properties/sendInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err293];
}
else {
vErrors.push(err293);
}
errors++;
}
}
else {
const err294 = {instancePath:instancePath+"/link/heartbeats/sendInterval",schemaPath:"#/properties/link/properties/heartbeats/properties/sendInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err294];
}
else {
vErrors.push(err294);
}
errors++;
}
}
if(data160.checkInterval !== undefined){
let data162 = data160.checkInterval;
if(typeof data162 === "string"){
if(!(formats6(data162))){
const err295 = {instancePath:instancePath+"/link/heartbeats/checkInterval",schemaPath:"#/properties/link/properties/heartbeats/properties/checkInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err295];
}
else {
vErrors.push(err295);
}
errors++;
}
}
else {
const err296 = {instancePath:instancePath+"/link/heartbeats/checkInterval",schemaPath:"#/properties/link/properties/heartbeats/properties/checkInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err296];
}
else {
vErrors.push(err296);
}
errors++;
}
}
if(data160.closeUnresponsiveTimeout !== undefined){
let data163 = data160.closeUnresponsiveTimeout;
if(typeof data163 === "string"){
if(!(formats6(data163))){
const err297 = {instancePath:instancePath+"/link/heartbeats/closeUnresponsiveTimeout",schemaPath:"#/properties/link/properties/heartbeats/properties/closeUnresponsiveTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err297];
}
else {
vErrors.push(err297);
}
errors++;
}
}
else {
const err298 = {instancePath:instancePath+"/link/heartbeats/closeUnresponsiveTimeout",schemaPath:"#/properties/link/properties/heartbeats/properties/closeUnresponsiveTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err298];
}
else {
vErrors.push(err298);
}
errors++;
}
}
}
else {
const err299 = {instancePath:instancePath+"/link/heartbeats",schemaPath:"#/properties/link/properties/heartbeats/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err299];
}
else {
vErrors.push(err299);
}
errors++;
}
}
if(data118.payloadSenderQueueSize !== undefined){
let data164 = data118.payloadSenderQueueSize;
if(!(((typeof data164 == "number") && (!(data164 % 1) && !isNaN(data164))) && (isFinite(data164)))){
const err300 = {instancePath:instancePath+"/link/payloadSenderQueueSize",schemaPath:"#/properties/link/properties/payloadSenderQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err300];
}
else {
vErrors.push(err300);
}
errors++;
}
if((typeof data164 == "number") && (isFinite(data164))){
if(data164 < 1 || isNaN(data164)){
const err301 = {instancePath:instancePath+"/link/payloadSenderQueueSize",schemaPath:"#/properties/link/properties/payloadSenderQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err301];
}
else {
vErrors.push(err301);
}
errors++;
}
}
}
if(data118.ackSenderQueueSize !== undefined){
let data165 = data118.ackSenderQueueSize;
if(!(((typeof data165 == "number") && (!(data165 % 1) && !isNaN(data165))) && (isFinite(data165)))){
const err302 = {instancePath:instancePath+"/link/ackSenderQueueSize",schemaPath:"#/properties/link/properties/ackSenderQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err302];
}
else {
vErrors.push(err302);
}
errors++;
}
if((typeof data165 == "number") && (isFinite(data165))){
if(data165 < 1 || isNaN(data165)){
const err303 = {instancePath:instancePath+"/link/ackSenderQueueSize",schemaPath:"#/properties/link/properties/ackSenderQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err303];
}
else {
vErrors.push(err303);
}
errors++;
}
}
}
}
else {
const err304 = {instancePath:instancePath+"/link",schemaPath:"#/properties/link/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err304];
}
else {
vErrors.push(err304);
}
errors++;
}
}
if(data.listeners !== undefined){
let data166 = data.listeners;
if(Array.isArray(data166)){
const len16 = data166.length;
for(let i16=0; i16<len16; i16++){
let data167 = data166[i16];
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err305 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err305];
}
else {
vErrors.push(err305);
}
errors++;
}
const tag0 = data167.binding;
if(typeof tag0 == "string"){
if(tag0 === "edge"){
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err306 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/0/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err306];
}
else {
vErrors.push(err306);
}
errors++;
}
if(data167.address === undefined){
const err307 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/0/required",keyword:"required",params:{missingProperty: "address"}};
if(vErrors === null){
vErrors = [err307];
}
else {
vErrors.push(err307);
}
errors++;
}
if(data167.options === undefined){
const err308 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/0/required",keyword:"required",params:{missingProperty: "options"}};
if(vErrors === null){
vErrors = [err308];
}
else {
vErrors.push(err308);
}
errors++;
}
for(const key27 in data167){
if(!(((key27 === "binding") || (key27 === "address")) || (key27 === "options"))){
const err309 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/0/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key27}};
if(vErrors === null){
vErrors = [err309];
}
else {
vErrors.push(err309);
}
errors++;
}
}
if(data167.binding !== undefined){
let data168 = data167.binding;
if(typeof data168 !== "string"){
const err310 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/0/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err310];
}
else {
vErrors.push(err310);
}
errors++;
}
if("edge" !== data168){
const err311 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/0/properties/binding/const",keyword:"const",params:{allowedValue: "edge"}};
if(vErrors === null){
vErrors = [err311];
}
else {
vErrors.push(err311);
}
errors++;
}
}
if(data167.address !== undefined){
let data169 = data167.address;
if(typeof data169 === "string"){
if(!(formats0(data169))){
const err312 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/0/properties/address/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err312];
}
else {
vErrors.push(err312);
}
errors++;
}
}
else {
const err313 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/0/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err313];
}
else {
vErrors.push(err313);
}
errors++;
}
}
if(data167.options !== undefined){
let data170 = data167.options;
if(data170 && typeof data170 == "object" && !Array.isArray(data170)){
if(data170.advertise === undefined){
const err314 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/required",keyword:"required",params:{missingProperty: "advertise"}};
if(vErrors === null){
vErrors = [err314];
}
else {
vErrors.push(err314);
}
errors++;
}
for(const key28 in data170){
if(!(func0.call(schema0.properties.listeners.items.oneOf[0].properties.options.properties, key28))){
const err315 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key28}};
if(vErrors === null){
vErrors = [err315];
}
else {
vErrors.push(err315);
}
errors++;
}
}
if(data170.mtu !== undefined){
let data171 = data170.mtu;
if(!(((typeof data171 == "number") && (!(data171 % 1) && !isNaN(data171))) && (isFinite(data171)))){
const err316 = {instancePath:instancePath+"/listeners/" + i16+"/options/mtu",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err316];
}
else {
vErrors.push(err316);
}
errors++;
}
}
if(data170.randomDrops !== undefined){
if(typeof data170.randomDrops !== "boolean"){
const err317 = {instancePath:instancePath+"/listeners/" + i16+"/options/randomDrops",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err317];
}
else {
vErrors.push(err317);
}
errors++;
}
}
if(data170.drop1InN !== undefined){
let data173 = data170.drop1InN;
if(!(((typeof data173 == "number") && (!(data173 % 1) && !isNaN(data173))) && (isFinite(data173)))){
const err318 = {instancePath:instancePath+"/listeners/" + i16+"/options/drop1InN",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err318];
}
else {
vErrors.push(err318);
}
errors++;
}
}
if(data170.txQueueSize !== undefined){
let data174 = data170.txQueueSize;
if(!(((typeof data174 == "number") && (!(data174 % 1) && !isNaN(data174))) && (isFinite(data174)))){
const err319 = {instancePath:instancePath+"/listeners/" + i16+"/options/txQueueSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err319];
}
else {
vErrors.push(err319);
}
errors++;
}
}
if(data170.txPortalStartSize !== undefined){
let data175 = data170.txPortalStartSize;
if(!(((typeof data175 == "number") && (!(data175 % 1) && !isNaN(data175))) && (isFinite(data175)))){
const err320 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalStartSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err320];
}
else {
vErrors.push(err320);
}
errors++;
}
}
if(data170.txPortalMinSize !== undefined){
let data176 = data170.txPortalMinSize;
if(!(((typeof data176 == "number") && (!(data176 % 1) && !isNaN(data176))) && (isFinite(data176)))){
const err321 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMinSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err321];
}
else {
vErrors.push(err321);
}
errors++;
}
}
if(data170.txPortalMaxSize !== undefined){
let data177 = data170.txPortalMaxSize;
if(!(((typeof data177 == "number") && (!(data177 % 1) && !isNaN(data177))) && (isFinite(data177)))){
const err322 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMaxSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err322];
}
else {
vErrors.push(err322);
}
errors++;
}
}
if(data170.txPortalIncreaseThresh !== undefined){
let data178 = data170.txPortalIncreaseThresh;
if(!(((typeof data178 == "number") && (!(data178 % 1) && !isNaN(data178))) && (isFinite(data178)))){
const err323 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err323];
}
else {
vErrors.push(err323);
}
errors++;
}
}
if(data170.txPortalIncreaseScale !== undefined){
let data179 = data170.txPortalIncreaseScale;
if(!((typeof data179 == "number") && (isFinite(data179)))){
const err324 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseScale",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err324];
}
else {
vErrors.push(err324);
}
errors++;
}
}
if(data170.txPortalRetxThresh !== undefined){
let data180 = data170.txPortalRetxThresh;
if(!(((typeof data180 == "number") && (!(data180 % 1) && !isNaN(data180))) && (isFinite(data180)))){
const err325 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxThresh",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err325];
}
else {
vErrors.push(err325);
}
errors++;
}
}
if(data170.txPortalRetxScale !== undefined){
let data181 = data170.txPortalRetxScale;
if(!((typeof data181 == "number") && (isFinite(data181)))){
const err326 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxScale",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err326];
}
else {
vErrors.push(err326);
}
errors++;
}
}
if(data170.txPortalDupAckThresh !== undefined){
let data182 = data170.txPortalDupAckThresh;
if(!(((typeof data182 == "number") && (!(data182 % 1) && !isNaN(data182))) && (isFinite(data182)))){
const err327 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckThresh",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err327];
}
else {
vErrors.push(err327);
}
errors++;
}
}
if(data170.txPortalDupAckScale !== undefined){
let data183 = data170.txPortalDupAckScale;
if(!((typeof data183 == "number") && (isFinite(data183)))){
const err328 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckScale",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err328];
}
else {
vErrors.push(err328);
}
errors++;
}
}
if(data170.rxBufferSize !== undefined){
let data184 = data170.rxBufferSize;
if(!(((typeof data184 == "number") && (!(data184 % 1) && !isNaN(data184))) && (isFinite(data184)))){
const err329 = {instancePath:instancePath+"/listeners/" + i16+"/options/rxBufferSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err329];
}
else {
vErrors.push(err329);
}
errors++;
}
}
if(data170.retxStartMs !== undefined){
let data185 = data170.retxStartMs;
if(!(((typeof data185 == "number") && (!(data185 % 1) && !isNaN(data185))) && (isFinite(data185)))){
const err330 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxStartMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err330];
}
else {
vErrors.push(err330);
}
errors++;
}
}
if(data170.retxScale !== undefined){
let data186 = data170.retxScale;
if(!((typeof data186 == "number") && (isFinite(data186)))){
const err331 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxScale",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err331];
}
else {
vErrors.push(err331);
}
errors++;
}
}
if(data170.retxAddMs !== undefined){
let data187 = data170.retxAddMs;
if(!(((typeof data187 == "number") && (!(data187 % 1) && !isNaN(data187))) && (isFinite(data187)))){
const err332 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxAddMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err332];
}
else {
vErrors.push(err332);
}
errors++;
}
}
if(data170.retxMaxMs !== undefined){
let data188 = data170.retxMaxMs;
if(!(((typeof data188 == "number") && (!(data188 % 1) && !isNaN(data188))) && (isFinite(data188)))){
const err333 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxMaxMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err333];
}
else {
vErrors.push(err333);
}
errors++;
}
}
if(data170.maxRttScale !== undefined){
let data189 = data170.maxRttScale;
if(!(((typeof data189 == "number") && (!(data189 % 1) && !isNaN(data189))) && (isFinite(data189)))){
const err334 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxRttScale",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err334];
}
else {
vErrors.push(err334);
}
errors++;
}
}
if(data170.maxCloseWaitMs !== undefined){
let data190 = data170.maxCloseWaitMs;
if(!(((typeof data190 == "number") && (!(data190 % 1) && !isNaN(data190))) && (isFinite(data190)))){
const err335 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxCloseWaitMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err335];
}
else {
vErrors.push(err335);
}
errors++;
}
}
if(data170.getCircuitTimeout !== undefined){
let data191 = data170.getCircuitTimeout;
if(typeof data191 === "string"){
if(!(formats6(data191))){
const err336 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err336];
}
else {
vErrors.push(err336);
}
errors++;
}
}
else {
const err337 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err337];
}
else {
vErrors.push(err337);
}
errors++;
}
}
if(data170.circuitStartTimeout !== undefined){
let data192 = data170.circuitStartTimeout;
if(typeof data192 === "string"){
if(!(formats6(data192))){
const err338 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err338];
}
else {
vErrors.push(err338);
}
errors++;
}
}
else {
const err339 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err339];
}
else {
vErrors.push(err339);
}
errors++;
}
}
if(data170.connectTimeout !== undefined){
let data193 = data170.connectTimeout;
if(typeof data193 === "string"){
if(!(formats6(data193))){
const err340 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err340];
}
else {
vErrors.push(err340);
}
errors++;
}
}
else {
const err341 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err341];
}
else {
vErrors.push(err341);
}
errors++;
}
}
if(data170.outQueueSize !== undefined){
let data194 = data170.outQueueSize;
if(!(((typeof data194 == "number") && (!(data194 % 1) && !isNaN(data194))) && (isFinite(data194)))){
const err342 = {instancePath:instancePath+"/listeners/" + i16+"/options/outQueueSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/outQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err342];
}
else {
vErrors.push(err342);
}
errors++;
}
if((typeof data194 == "number") && (isFinite(data194))){
if(data194 < 0 || isNaN(data194)){
const err343 = {instancePath:instancePath+"/listeners/" + i16+"/options/outQueueSize",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/outQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err343];
}
else {
vErrors.push(err343);
}
errors++;
}
}
}
if(data170.maxQueuedConnects !== undefined){
let data195 = data170.maxQueuedConnects;
if(!(((typeof data195 == "number") && (!(data195 % 1) && !isNaN(data195))) && (isFinite(data195)))){
const err344 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxQueuedConnects",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxQueuedConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err344];
}
else {
vErrors.push(err344);
}
errors++;
}
if((typeof data195 == "number") && (isFinite(data195))){
if(data195 > 5000 || isNaN(data195)){
const err345 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxQueuedConnects",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxQueuedConnects/maximum",keyword:"maximum",params:{comparison: "<=", limit: 5000}};
if(vErrors === null){
vErrors = [err345];
}
else {
vErrors.push(err345);
}
errors++;
}
if(data195 < 1 || isNaN(data195)){
const err346 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxQueuedConnects",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxQueuedConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err346];
}
else {
vErrors.push(err346);
}
errors++;
}
}
}
if(data170.maxOutstandingConnects !== undefined){
let data196 = data170.maxOutstandingConnects;
if(!(((typeof data196 == "number") && (!(data196 % 1) && !isNaN(data196))) && (isFinite(data196)))){
const err347 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxOutstandingConnects",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxOutstandingConnects/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err347];
}
else {
vErrors.push(err347);
}
errors++;
}
if((typeof data196 == "number") && (isFinite(data196))){
if(data196 > 1000 || isNaN(data196)){
const err348 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxOutstandingConnects",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxOutstandingConnects/maximum",keyword:"maximum",params:{comparison: "<=", limit: 1000}};
if(vErrors === null){
vErrors = [err348];
}
else {
vErrors.push(err348);
}
errors++;
}
if(data196 < 1 || isNaN(data196)){
const err349 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxOutstandingConnects",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/maxOutstandingConnects/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err349];
}
else {
vErrors.push(err349);
}
errors++;
}
}
}
if(data170.connectTimeoutMs !== undefined){
let data197 = data170.connectTimeoutMs;
if(!(((typeof data197 == "number") && (!(data197 % 1) && !isNaN(data197))) && (isFinite(data197)))){
const err350 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeoutMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/connectTimeoutMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err350];
}
else {
vErrors.push(err350);
}
errors++;
}
if((typeof data197 == "number") && (isFinite(data197))){
if(data197 > 60000 || isNaN(data197)){
const err351 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeoutMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/connectTimeoutMs/maximum",keyword:"maximum",params:{comparison: "<=", limit: 60000}};
if(vErrors === null){
vErrors = [err351];
}
else {
vErrors.push(err351);
}
errors++;
}
if(data197 < 30 || isNaN(data197)){
const err352 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeoutMs",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/connectTimeoutMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 30}};
if(vErrors === null){
vErrors = [err352];
}
else {
vErrors.push(err352);
}
errors++;
}
}
}
if(data170.writeTimeout !== undefined){
let data198 = data170.writeTimeout;
if(typeof data198 === "string"){
if(!(formats6(data198))){
const err353 = {instancePath:instancePath+"/listeners/" + i16+"/options/writeTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/writeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err353];
}
else {
vErrors.push(err353);
}
errors++;
}
}
else {
const err354 = {instancePath:instancePath+"/listeners/" + i16+"/options/writeTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/writeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err354];
}
else {
vErrors.push(err354);
}
errors++;
}
}
if(data170.advertise !== undefined){
let data199 = data170.advertise;
if(typeof data199 === "string"){
if(!(formats44(data199))){
const err355 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/advertise/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err355];
}
else {
vErrors.push(err355);
}
errors++;
}
}
else {
const err356 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err356];
}
else {
vErrors.push(err356);
}
errors++;
}
}
if(data170.lookupSessionTimeout !== undefined){
let data200 = data170.lookupSessionTimeout;
if(typeof data200 === "string"){
if(!(formats6(data200))){
const err357 = {instancePath:instancePath+"/listeners/" + i16+"/options/lookupSessionTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/lookupSessionTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err357];
}
else {
vErrors.push(err357);
}
errors++;
}
}
else {
const err358 = {instancePath:instancePath+"/listeners/" + i16+"/options/lookupSessionTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/lookupSessionTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err358];
}
else {
vErrors.push(err358);
}
errors++;
}
}
if(data170.lookupApiSessionTimeout !== undefined){
let data201 = data170.lookupApiSessionTimeout;
if(typeof data201 === "string"){
if(!(formats6(data201))){
const err359 = {instancePath:instancePath+"/listeners/" + i16+"/options/lookupApiSessionTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/lookupApiSessionTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err359];
}
else {
vErrors.push(err359);
}
errors++;
}
}
else {
const err360 = {instancePath:instancePath+"/listeners/" + i16+"/options/lookupApiSessionTimeout",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/properties/lookupApiSessionTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err360];
}
else {
vErrors.push(err360);
}
errors++;
}
}
}
else {
const err361 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/0/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err361];
}
else {
vErrors.push(err361);
}
errors++;
}
}
}
else {
const err362 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/0/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err362];
}
else {
vErrors.push(err362);
}
errors++;
}
var props0 = true;
}
else if(tag0 === "tunnel"){
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err363 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/1/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err363];
}
else {
vErrors.push(err363);
}
errors++;
}
for(const key29 in data167){
if(!(((key29 === "binding") || (key29 === "address")) || (key29 === "options"))){
const err364 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/1/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key29}};
if(vErrors === null){
vErrors = [err364];
}
else {
vErrors.push(err364);
}
errors++;
}
}
if(data167.binding !== undefined){
let data202 = data167.binding;
if(typeof data202 !== "string"){
const err365 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/1/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err365];
}
else {
vErrors.push(err365);
}
errors++;
}
if("tunnel" !== data202){
const err366 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/1/properties/binding/const",keyword:"const",params:{allowedValue: "tunnel"}};
if(vErrors === null){
vErrors = [err366];
}
else {
vErrors.push(err366);
}
errors++;
}
}
if(data167.address !== undefined){
if(typeof data167.address !== "string"){
const err367 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/1/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err367];
}
else {
vErrors.push(err367);
}
errors++;
}
}
if(data167.options !== undefined){
let data204 = data167.options;
if(data204 && typeof data204 == "object" && !Array.isArray(data204)){
for(const key30 in data204){
if(!(func0.call(schema0.properties.listeners.items.oneOf[1].properties.options.properties, key30))){
const err368 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key30}};
if(vErrors === null){
vErrors = [err368];
}
else {
vErrors.push(err368);
}
errors++;
}
}
if(data204.mtu !== undefined){
let data205 = data204.mtu;
if(!(((typeof data205 == "number") && (!(data205 % 1) && !isNaN(data205))) && (isFinite(data205)))){
const err369 = {instancePath:instancePath+"/listeners/" + i16+"/options/mtu",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err369];
}
else {
vErrors.push(err369);
}
errors++;
}
}
if(data204.randomDrops !== undefined){
if(typeof data204.randomDrops !== "boolean"){
const err370 = {instancePath:instancePath+"/listeners/" + i16+"/options/randomDrops",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err370];
}
else {
vErrors.push(err370);
}
errors++;
}
}
if(data204.drop1InN !== undefined){
let data207 = data204.drop1InN;
if(!(((typeof data207 == "number") && (!(data207 % 1) && !isNaN(data207))) && (isFinite(data207)))){
const err371 = {instancePath:instancePath+"/listeners/" + i16+"/options/drop1InN",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err371];
}
else {
vErrors.push(err371);
}
errors++;
}
}
if(data204.txQueueSize !== undefined){
let data208 = data204.txQueueSize;
if(!(((typeof data208 == "number") && (!(data208 % 1) && !isNaN(data208))) && (isFinite(data208)))){
const err372 = {instancePath:instancePath+"/listeners/" + i16+"/options/txQueueSize",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err372];
}
else {
vErrors.push(err372);
}
errors++;
}
}
if(data204.txPortalStartSize !== undefined){
let data209 = data204.txPortalStartSize;
if(!(((typeof data209 == "number") && (!(data209 % 1) && !isNaN(data209))) && (isFinite(data209)))){
const err373 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalStartSize",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err373];
}
else {
vErrors.push(err373);
}
errors++;
}
}
if(data204.txPortalMinSize !== undefined){
let data210 = data204.txPortalMinSize;
if(!(((typeof data210 == "number") && (!(data210 % 1) && !isNaN(data210))) && (isFinite(data210)))){
const err374 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMinSize",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err374];
}
else {
vErrors.push(err374);
}
errors++;
}
}
if(data204.txPortalMaxSize !== undefined){
let data211 = data204.txPortalMaxSize;
if(!(((typeof data211 == "number") && (!(data211 % 1) && !isNaN(data211))) && (isFinite(data211)))){
const err375 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMaxSize",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err375];
}
else {
vErrors.push(err375);
}
errors++;
}
}
if(data204.txPortalIncreaseThresh !== undefined){
let data212 = data204.txPortalIncreaseThresh;
if(!(((typeof data212 == "number") && (!(data212 % 1) && !isNaN(data212))) && (isFinite(data212)))){
const err376 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err376];
}
else {
vErrors.push(err376);
}
errors++;
}
}
if(data204.txPortalIncreaseScale !== undefined){
let data213 = data204.txPortalIncreaseScale;
if(!((typeof data213 == "number") && (isFinite(data213)))){
const err377 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseScale",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err377];
}
else {
vErrors.push(err377);
}
errors++;
}
}
if(data204.txPortalRetxThresh !== undefined){
let data214 = data204.txPortalRetxThresh;
if(!(((typeof data214 == "number") && (!(data214 % 1) && !isNaN(data214))) && (isFinite(data214)))){
const err378 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxThresh",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err378];
}
else {
vErrors.push(err378);
}
errors++;
}
}
if(data204.txPortalRetxScale !== undefined){
let data215 = data204.txPortalRetxScale;
if(!((typeof data215 == "number") && (isFinite(data215)))){
const err379 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxScale",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err379];
}
else {
vErrors.push(err379);
}
errors++;
}
}
if(data204.txPortalDupAckThresh !== undefined){
let data216 = data204.txPortalDupAckThresh;
if(!(((typeof data216 == "number") && (!(data216 % 1) && !isNaN(data216))) && (isFinite(data216)))){
const err380 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckThresh",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err380];
}
else {
vErrors.push(err380);
}
errors++;
}
}
if(data204.txPortalDupAckScale !== undefined){
let data217 = data204.txPortalDupAckScale;
if(!((typeof data217 == "number") && (isFinite(data217)))){
const err381 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckScale",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err381];
}
else {
vErrors.push(err381);
}
errors++;
}
}
if(data204.rxBufferSize !== undefined){
let data218 = data204.rxBufferSize;
if(!(((typeof data218 == "number") && (!(data218 % 1) && !isNaN(data218))) && (isFinite(data218)))){
const err382 = {instancePath:instancePath+"/listeners/" + i16+"/options/rxBufferSize",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err382];
}
else {
vErrors.push(err382);
}
errors++;
}
}
if(data204.retxStartMs !== undefined){
let data219 = data204.retxStartMs;
if(!(((typeof data219 == "number") && (!(data219 % 1) && !isNaN(data219))) && (isFinite(data219)))){
const err383 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxStartMs",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err383];
}
else {
vErrors.push(err383);
}
errors++;
}
}
if(data204.retxScale !== undefined){
let data220 = data204.retxScale;
if(!((typeof data220 == "number") && (isFinite(data220)))){
const err384 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxScale",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err384];
}
else {
vErrors.push(err384);
}
errors++;
}
}
if(data204.retxAddMs !== undefined){
let data221 = data204.retxAddMs;
if(!(((typeof data221 == "number") && (!(data221 % 1) && !isNaN(data221))) && (isFinite(data221)))){
const err385 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxAddMs",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err385];
}
else {
vErrors.push(err385);
}
errors++;
}
}
if(data204.retxMaxMs !== undefined){
let data222 = data204.retxMaxMs;
if(!(((typeof data222 == "number") && (!(data222 % 1) && !isNaN(data222))) && (isFinite(data222)))){
const err386 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxMaxMs",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err386];
}
else {
vErrors.push(err386);
}
errors++;
}
}
if(data204.maxRttScale !== undefined){
let data223 = data204.maxRttScale;
if(!(((typeof data223 == "number") && (!(data223 % 1) && !isNaN(data223))) && (isFinite(data223)))){
const err387 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxRttScale",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err387];
}
else {
vErrors.push(err387);
}
errors++;
}
}
if(data204.maxCloseWaitMs !== undefined){
let data224 = data204.maxCloseWaitMs;
if(!(((typeof data224 == "number") && (!(data224 % 1) && !isNaN(data224))) && (isFinite(data224)))){
const err388 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxCloseWaitMs",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err388];
}
else {
vErrors.push(err388);
}
errors++;
}
}
if(data204.getCircuitTimeout !== undefined){
let data225 = data204.getCircuitTimeout;
if(typeof data225 === "string"){
if(!(formats6(data225))){
const err389 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err389];
}
else {
vErrors.push(err389);
}
errors++;
}
}
else {
const err390 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err390];
}
else {
vErrors.push(err390);
}
errors++;
}
}
if(data204.circuitStartTimeout !== undefined){
let data226 = data204.circuitStartTimeout;
if(typeof data226 === "string"){
if(!(formats6(data226))){
const err391 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err391];
}
else {
vErrors.push(err391);
}
errors++;
}
}
else {
const err392 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err392];
}
else {
vErrors.push(err392);
}
errors++;
}
}
if(data204.connectTimeout !== undefined){
let data227 = data204.connectTimeout;
if(typeof data227 === "string"){
if(!(formats6(data227))){
const err393 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err393];
}
else {
vErrors.push(err393);
}
errors++;
}
}
else {
const err394 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err394];
}
else {
vErrors.push(err394);
}
errors++;
}
}
if(data204.mode !== undefined){
let data228 = data204.mode;
if(typeof data228 === "string"){
if(!pattern0.test(data228)){
const err395 = {instancePath:instancePath+"/listeners/" + i16+"/options/mode",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/mode/pattern",keyword:"pattern",params:{pattern: "^(host|proxy|tproxy(:.*)?)$"}};
if(vErrors === null){
vErrors = [err395];
}
else {
vErrors.push(err395);
}
errors++;
}
}
else {
const err396 = {instancePath:instancePath+"/listeners/" + i16+"/options/mode",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/mode/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err396];
}
else {
vErrors.push(err396);
}
errors++;
}
}
if(data204.svcPollRate !== undefined){
let data229 = data204.svcPollRate;
if(typeof data229 === "string"){
if(!(formats6(data229))){
const err397 = {instancePath:instancePath+"/listeners/" + i16+"/options/svcPollRate",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/svcPollRate/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err397];
}
else {
vErrors.push(err397);
}
errors++;
}
}
else {
const err398 = {instancePath:instancePath+"/listeners/" + i16+"/options/svcPollRate",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/svcPollRate/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err398];
}
else {
vErrors.push(err398);
}
errors++;
}
}
if(data204.resolver !== undefined){
let data230 = data204.resolver;
if((typeof data230 !== "string") && (!(Array.isArray(data230)))){
const err399 = {instancePath:instancePath+"/listeners/" + i16+"/options/resolver",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/resolver/type",keyword:"type",params:{type: schema0.properties.listeners.items.oneOf[1].properties.options.properties.resolver.type}};
if(vErrors === null){
vErrors = [err399];
}
else {
vErrors.push(err399);
}
errors++;
}
if(Array.isArray(data230)){
const len17 = data230.length;
for(let i17=0; i17<len17; i17++){
if(typeof data230[i17] !== "string"){
const err400 = {instancePath:instancePath+"/listeners/" + i16+"/options/resolver/" + i17,schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/resolver/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err400];
}
else {
vErrors.push(err400);
}
errors++;
}
}
}
}
if(data204.dnsSvcIpRange !== undefined){
let data232 = data204.dnsSvcIpRange;
if(typeof data232 === "string"){
if(!(formats116(data232))){
const err401 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsSvcIpRange",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsSvcIpRange/format",keyword:"format",params:{format: "cidr"}};
if(vErrors === null){
vErrors = [err401];
}
else {
vErrors.push(err401);
}
errors++;
}
}
else {
const err402 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsSvcIpRange",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsSvcIpRange/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err402];
}
else {
vErrors.push(err402);
}
errors++;
}
}
if(data204.dnsUpstream !== undefined){
let data233 = data204.dnsUpstream;
if((typeof data233 !== "string") && (!(Array.isArray(data233)))){
const err403 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsUpstream",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsUpstream/type",keyword:"type",params:{type: schema0.properties.listeners.items.oneOf[1].properties.options.properties.dnsUpstream.type}};
if(vErrors === null){
vErrors = [err403];
}
else {
vErrors.push(err403);
}
errors++;
}
if(Array.isArray(data233)){
const len18 = data233.length;
for(let i18=0; i18<len18; i18++){
if(typeof data233[i18] !== "string"){
const err404 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsUpstream/" + i18,schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsUpstream/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err404];
}
else {
vErrors.push(err404);
}
errors++;
}
}
}
}
if(data204.dnsUpstreamMode !== undefined){
let data235 = data204.dnsUpstreamMode;
if(typeof data235 !== "string"){
const err405 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsUpstreamMode",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsUpstreamMode/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err405];
}
else {
vErrors.push(err405);
}
errors++;
}
if(!(((((data235 === "parallel") || (data235 === "serial")) || (data235 === "failover")) || (data235 === "random")) || (data235 === ""))){
const err406 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsUpstreamMode",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsUpstreamMode/enum",keyword:"enum",params:{allowedValues: schema0.properties.listeners.items.oneOf[1].properties.options.properties.dnsUpstreamMode.enum}};
if(vErrors === null){
vErrors = [err406];
}
else {
vErrors.push(err406);
}
errors++;
}
}
if(data204.dnsUnanswerable !== undefined){
let data236 = data204.dnsUnanswerable;
if(typeof data236 !== "string"){
const err407 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsUnanswerable",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsUnanswerable/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err407];
}
else {
vErrors.push(err407);
}
errors++;
}
if(!((((data236 === "timeout") || (data236 === "servfail")) || (data236 === "refused")) || (data236 === ""))){
const err408 = {instancePath:instancePath+"/listeners/" + i16+"/options/dnsUnanswerable",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/dnsUnanswerable/enum",keyword:"enum",params:{allowedValues: schema0.properties.listeners.items.oneOf[1].properties.options.properties.dnsUnanswerable.enum}};
if(vErrors === null){
vErrors = [err408];
}
else {
vErrors.push(err408);
}
errors++;
}
}
if(data204.services !== undefined){
let data237 = data204.services;
if(Array.isArray(data237)){
const len19 = data237.length;
for(let i19=0; i19<len19; i19++){
let data238 = data237[i19];
if(typeof data238 === "string"){
if(!(formats118(data238))){
const err409 = {instancePath:instancePath+"/listeners/" + i16+"/options/services/" + i19,schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/services/items/format",keyword:"format",params:{format: "proxy-service"}};
if(vErrors === null){
vErrors = [err409];
}
else {
vErrors.push(err409);
}
errors++;
}
}
else {
const err410 = {instancePath:instancePath+"/listeners/" + i16+"/options/services/" + i19,schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/services/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err410];
}
else {
vErrors.push(err410);
}
errors++;
}
}
}
else {
const err411 = {instancePath:instancePath+"/listeners/" + i16+"/options/services",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/services/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err411];
}
else {
vErrors.push(err411);
}
errors++;
}
}
if(data204.lanIf !== undefined){
let data239 = data204.lanIf;
if((typeof data239 !== "string") && (!(Array.isArray(data239)))){
const err412 = {instancePath:instancePath+"/listeners/" + i16+"/options/lanIf",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/lanIf/type",keyword:"type",params:{type: schema0.properties.listeners.items.oneOf[1].properties.options.properties.lanIf.type}};
if(vErrors === null){
vErrors = [err412];
}
else {
vErrors.push(err412);
}
errors++;
}
if(Array.isArray(data239)){
const len20 = data239.length;
for(let i20=0; i20<len20; i20++){
if(typeof data239[i20] !== "string"){
const err413 = {instancePath:instancePath+"/listeners/" + i16+"/options/lanIf/" + i20,schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/lanIf/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err413];
}
else {
vErrors.push(err413);
}
errors++;
}
}
}
}
if(data204.udpIdleTimeout !== undefined){
let data241 = data204.udpIdleTimeout;
if(typeof data241 === "string"){
if(!(formats6(data241))){
const err414 = {instancePath:instancePath+"/listeners/" + i16+"/options/udpIdleTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/udpIdleTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err414];
}
else {
vErrors.push(err414);
}
errors++;
}
}
else {
const err415 = {instancePath:instancePath+"/listeners/" + i16+"/options/udpIdleTimeout",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/udpIdleTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err415];
}
else {
vErrors.push(err415);
}
errors++;
}
}
if(data204.udpCheckInterval !== undefined){
let data242 = data204.udpCheckInterval;
if(typeof data242 === "string"){
if(!(formats6(data242))){
const err416 = {instancePath:instancePath+"/listeners/" + i16+"/options/udpCheckInterval",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/udpCheckInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err416];
}
else {
vErrors.push(err416);
}
errors++;
}
}
else {
const err417 = {instancePath:instancePath+"/listeners/" + i16+"/options/udpCheckInterval",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/properties/udpCheckInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err417];
}
else {
vErrors.push(err417);
}
errors++;
}
}
}
else {
const err418 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/1/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err418];
}
else {
vErrors.push(err418);
}
errors++;
}
}
}
else {
const err419 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/1/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err419];
}
else {
vErrors.push(err419);
}
errors++;
}
if(props0 !== true){
props0 = true;
}
}
else if(tag0 === "transport"){
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err420 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/2/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err420];
}
else {
vErrors.push(err420);
}
errors++;
}
if(data167.address === undefined){
const err421 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/2/required",keyword:"required",params:{missingProperty: "address"}};
if(vErrors === null){
vErrors = [err421];
}
else {
vErrors.push(err421);
}
errors++;
}
for(const key31 in data167){
if(!(((key31 === "binding") || (key31 === "address")) || (key31 === "options"))){
const err422 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/2/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key31}};
if(vErrors === null){
vErrors = [err422];
}
else {
vErrors.push(err422);
}
errors++;
}
}
if(data167.binding !== undefined){
let data243 = data167.binding;
if(typeof data243 !== "string"){
const err423 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/2/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err423];
}
else {
vErrors.push(err423);
}
errors++;
}
if("transport" !== data243){
const err424 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/2/properties/binding/const",keyword:"const",params:{allowedValue: "transport"}};
if(vErrors === null){
vErrors = [err424];
}
else {
vErrors.push(err424);
}
errors++;
}
}
if(data167.address !== undefined){
let data244 = data167.address;
if(typeof data244 === "string"){
if(!(formats0(data244))){
const err425 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/2/properties/address/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err425];
}
else {
vErrors.push(err425);
}
errors++;
}
}
else {
const err426 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/2/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err426];
}
else {
vErrors.push(err426);
}
errors++;
}
}
if(data167.options !== undefined){
let data245 = data167.options;
if(data245 && typeof data245 == "object" && !Array.isArray(data245)){
for(const key32 in data245){
if(!(func0.call(schema0.properties.listeners.items.oneOf[2].properties.options.properties, key32))){
const err427 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key32}};
if(vErrors === null){
vErrors = [err427];
}
else {
vErrors.push(err427);
}
errors++;
}
}
if(data245.mtu !== undefined){
let data246 = data245.mtu;
if(!(((typeof data246 == "number") && (!(data246 % 1) && !isNaN(data246))) && (isFinite(data246)))){
const err428 = {instancePath:instancePath+"/listeners/" + i16+"/options/mtu",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err428];
}
else {
vErrors.push(err428);
}
errors++;
}
}
if(data245.randomDrops !== undefined){
if(typeof data245.randomDrops !== "boolean"){
const err429 = {instancePath:instancePath+"/listeners/" + i16+"/options/randomDrops",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err429];
}
else {
vErrors.push(err429);
}
errors++;
}
}
if(data245.drop1InN !== undefined){
let data248 = data245.drop1InN;
if(!(((typeof data248 == "number") && (!(data248 % 1) && !isNaN(data248))) && (isFinite(data248)))){
const err430 = {instancePath:instancePath+"/listeners/" + i16+"/options/drop1InN",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err430];
}
else {
vErrors.push(err430);
}
errors++;
}
}
if(data245.txQueueSize !== undefined){
let data249 = data245.txQueueSize;
if(!(((typeof data249 == "number") && (!(data249 % 1) && !isNaN(data249))) && (isFinite(data249)))){
const err431 = {instancePath:instancePath+"/listeners/" + i16+"/options/txQueueSize",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err431];
}
else {
vErrors.push(err431);
}
errors++;
}
}
if(data245.txPortalStartSize !== undefined){
let data250 = data245.txPortalStartSize;
if(!(((typeof data250 == "number") && (!(data250 % 1) && !isNaN(data250))) && (isFinite(data250)))){
const err432 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalStartSize",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err432];
}
else {
vErrors.push(err432);
}
errors++;
}
}
if(data245.txPortalMinSize !== undefined){
let data251 = data245.txPortalMinSize;
if(!(((typeof data251 == "number") && (!(data251 % 1) && !isNaN(data251))) && (isFinite(data251)))){
const err433 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMinSize",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err433];
}
else {
vErrors.push(err433);
}
errors++;
}
}
if(data245.txPortalMaxSize !== undefined){
let data252 = data245.txPortalMaxSize;
if(!(((typeof data252 == "number") && (!(data252 % 1) && !isNaN(data252))) && (isFinite(data252)))){
const err434 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMaxSize",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err434];
}
else {
vErrors.push(err434);
}
errors++;
}
}
if(data245.txPortalIncreaseThresh !== undefined){
let data253 = data245.txPortalIncreaseThresh;
if(!(((typeof data253 == "number") && (!(data253 % 1) && !isNaN(data253))) && (isFinite(data253)))){
const err435 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err435];
}
else {
vErrors.push(err435);
}
errors++;
}
}
if(data245.txPortalIncreaseScale !== undefined){
let data254 = data245.txPortalIncreaseScale;
if(!((typeof data254 == "number") && (isFinite(data254)))){
const err436 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseScale",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err436];
}
else {
vErrors.push(err436);
}
errors++;
}
}
if(data245.txPortalRetxThresh !== undefined){
let data255 = data245.txPortalRetxThresh;
if(!(((typeof data255 == "number") && (!(data255 % 1) && !isNaN(data255))) && (isFinite(data255)))){
const err437 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxThresh",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err437];
}
else {
vErrors.push(err437);
}
errors++;
}
}
if(data245.txPortalRetxScale !== undefined){
let data256 = data245.txPortalRetxScale;
if(!((typeof data256 == "number") && (isFinite(data256)))){
const err438 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxScale",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err438];
}
else {
vErrors.push(err438);
}
errors++;
}
}
if(data245.txPortalDupAckThresh !== undefined){
let data257 = data245.txPortalDupAckThresh;
if(!(((typeof data257 == "number") && (!(data257 % 1) && !isNaN(data257))) && (isFinite(data257)))){
const err439 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckThresh",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err439];
}
else {
vErrors.push(err439);
}
errors++;
}
}
if(data245.txPortalDupAckScale !== undefined){
let data258 = data245.txPortalDupAckScale;
if(!((typeof data258 == "number") && (isFinite(data258)))){
const err440 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckScale",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err440];
}
else {
vErrors.push(err440);
}
errors++;
}
}
if(data245.rxBufferSize !== undefined){
let data259 = data245.rxBufferSize;
if(!(((typeof data259 == "number") && (!(data259 % 1) && !isNaN(data259))) && (isFinite(data259)))){
const err441 = {instancePath:instancePath+"/listeners/" + i16+"/options/rxBufferSize",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err441];
}
else {
vErrors.push(err441);
}
errors++;
}
}
if(data245.retxStartMs !== undefined){
let data260 = data245.retxStartMs;
if(!(((typeof data260 == "number") && (!(data260 % 1) && !isNaN(data260))) && (isFinite(data260)))){
const err442 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxStartMs",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err442];
}
else {
vErrors.push(err442);
}
errors++;
}
}
if(data245.retxScale !== undefined){
let data261 = data245.retxScale;
if(!((typeof data261 == "number") && (isFinite(data261)))){
const err443 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxScale",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err443];
}
else {
vErrors.push(err443);
}
errors++;
}
}
if(data245.retxAddMs !== undefined){
let data262 = data245.retxAddMs;
if(!(((typeof data262 == "number") && (!(data262 % 1) && !isNaN(data262))) && (isFinite(data262)))){
const err444 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxAddMs",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err444];
}
else {
vErrors.push(err444);
}
errors++;
}
}
if(data245.retxMaxMs !== undefined){
let data263 = data245.retxMaxMs;
if(!(((typeof data263 == "number") && (!(data263 % 1) && !isNaN(data263))) && (isFinite(data263)))){
const err445 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxMaxMs",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err445];
}
else {
vErrors.push(err445);
}
errors++;
}
}
if(data245.maxRttScale !== undefined){
let data264 = data245.maxRttScale;
if(!(((typeof data264 == "number") && (!(data264 % 1) && !isNaN(data264))) && (isFinite(data264)))){
const err446 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxRttScale",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err446];
}
else {
vErrors.push(err446);
}
errors++;
}
}
if(data245.maxCloseWaitMs !== undefined){
let data265 = data245.maxCloseWaitMs;
if(!(((typeof data265 == "number") && (!(data265 % 1) && !isNaN(data265))) && (isFinite(data265)))){
const err447 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxCloseWaitMs",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err447];
}
else {
vErrors.push(err447);
}
errors++;
}
}
if(data245.getCircuitTimeout !== undefined){
let data266 = data245.getCircuitTimeout;
if(typeof data266 === "string"){
if(!(formats6(data266))){
const err448 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err448];
}
else {
vErrors.push(err448);
}
errors++;
}
}
else {
const err449 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err449];
}
else {
vErrors.push(err449);
}
errors++;
}
}
if(data245.circuitStartTimeout !== undefined){
let data267 = data245.circuitStartTimeout;
if(typeof data267 === "string"){
if(!(formats6(data267))){
const err450 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err450];
}
else {
vErrors.push(err450);
}
errors++;
}
}
else {
const err451 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err451];
}
else {
vErrors.push(err451);
}
errors++;
}
}
if(data245.connectTimeout !== undefined){
let data268 = data245.connectTimeout;
if(typeof data268 === "string"){
if(!(formats6(data268))){
const err452 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err452];
}
else {
vErrors.push(err452);
}
errors++;
}
}
else {
const err453 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err453];
}
else {
vErrors.push(err453);
}
errors++;
}
}
if(data245.advertise !== undefined){
let data269 = data245.advertise;
if(typeof data269 === "string"){
if(!(formats44(data269))){
const err454 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/advertise/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err454];
}
else {
vErrors.push(err454);
}
errors++;
}
}
else {
const err455 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err455];
}
else {
vErrors.push(err455);
}
errors++;
}
}
}
else {
const err456 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/2/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err456];
}
else {
vErrors.push(err456);
}
errors++;
}
}
}
else {
const err457 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/2/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err457];
}
else {
vErrors.push(err457);
}
errors++;
}
if(props0 !== true){
props0 = true;
}
}
else if(tag0 === "transport_udp"){
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err458 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/3/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err458];
}
else {
vErrors.push(err458);
}
errors++;
}
if(data167.address === undefined){
const err459 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/3/required",keyword:"required",params:{missingProperty: "address"}};
if(vErrors === null){
vErrors = [err459];
}
else {
vErrors.push(err459);
}
errors++;
}
for(const key33 in data167){
if(!(((key33 === "binding") || (key33 === "address")) || (key33 === "options"))){
const err460 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/3/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key33}};
if(vErrors === null){
vErrors = [err460];
}
else {
vErrors.push(err460);
}
errors++;
}
}
if(data167.binding !== undefined){
let data270 = data167.binding;
if(typeof data270 !== "string"){
const err461 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/3/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err461];
}
else {
vErrors.push(err461);
}
errors++;
}
if("transport_udp" !== data270){
const err462 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/3/properties/binding/const",keyword:"const",params:{allowedValue: "transport_udp"}};
if(vErrors === null){
vErrors = [err462];
}
else {
vErrors.push(err462);
}
errors++;
}
}
if(data167.address !== undefined){
let data271 = data167.address;
if(typeof data271 === "string"){
if(!(formats134(data271))){
const err463 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/3/properties/address/format",keyword:"format",params:{format: "datagram-address"}};
if(vErrors === null){
vErrors = [err463];
}
else {
vErrors.push(err463);
}
errors++;
}
}
else {
const err464 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/3/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err464];
}
else {
vErrors.push(err464);
}
errors++;
}
}
if(data167.options !== undefined){
let data272 = data167.options;
if(data272 && typeof data272 == "object" && !Array.isArray(data272)){
for(const key34 in data272){
if(!(func0.call(schema0.properties.listeners.items.oneOf[3].properties.options.properties, key34))){
const err465 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key34}};
if(vErrors === null){
vErrors = [err465];
}
else {
vErrors.push(err465);
}
errors++;
}
}
if(data272.mtu !== undefined){
let data273 = data272.mtu;
if(!(((typeof data273 == "number") && (!(data273 % 1) && !isNaN(data273))) && (isFinite(data273)))){
const err466 = {instancePath:instancePath+"/listeners/" + i16+"/options/mtu",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err466];
}
else {
vErrors.push(err466);
}
errors++;
}
}
if(data272.randomDrops !== undefined){
if(typeof data272.randomDrops !== "boolean"){
const err467 = {instancePath:instancePath+"/listeners/" + i16+"/options/randomDrops",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err467];
}
else {
vErrors.push(err467);
}
errors++;
}
}
if(data272.drop1InN !== undefined){
let data275 = data272.drop1InN;
if(!(((typeof data275 == "number") && (!(data275 % 1) && !isNaN(data275))) && (isFinite(data275)))){
const err468 = {instancePath:instancePath+"/listeners/" + i16+"/options/drop1InN",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err468];
}
else {
vErrors.push(err468);
}
errors++;
}
}
if(data272.txQueueSize !== undefined){
let data276 = data272.txQueueSize;
if(!(((typeof data276 == "number") && (!(data276 % 1) && !isNaN(data276))) && (isFinite(data276)))){
const err469 = {instancePath:instancePath+"/listeners/" + i16+"/options/txQueueSize",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err469];
}
else {
vErrors.push(err469);
}
errors++;
}
}
if(data272.txPortalStartSize !== undefined){
let data277 = data272.txPortalStartSize;
if(!(((typeof data277 == "number") && (!(data277 % 1) && !isNaN(data277))) && (isFinite(data277)))){
const err470 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalStartSize",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err470];
}
else {
vErrors.push(err470);
}
errors++;
}
}
if(data272.txPortalMinSize !== undefined){
let data278 = data272.txPortalMinSize;
if(!(((typeof data278 == "number") && (!(data278 % 1) && !isNaN(data278))) && (isFinite(data278)))){
const err471 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMinSize",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err471];
}
else {
vErrors.push(err471);
}
errors++;
}
}
if(data272.txPortalMaxSize !== undefined){
let data279 = data272.txPortalMaxSize;
if(!(((typeof data279 == "number") && (!(data279 % 1) && !isNaN(data279))) && (isFinite(data279)))){
const err472 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMaxSize",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err472];
}
else {
vErrors.push(err472);
}
errors++;
}
}
if(data272.txPortalIncreaseThresh !== undefined){
let data280 = data272.txPortalIncreaseThresh;
if(!(((typeof data280 == "number") && (!(data280 % 1) && !isNaN(data280))) && (isFinite(data280)))){
const err473 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err473];
}
else {
vErrors.push(err473);
}
errors++;
}
}
if(data272.txPortalIncreaseScale !== undefined){
let data281 = data272.txPortalIncreaseScale;
if(!((typeof data281 == "number") && (isFinite(data281)))){
const err474 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseScale",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err474];
}
else {
vErrors.push(err474);
}
errors++;
}
}
if(data272.txPortalRetxThresh !== undefined){
let data282 = data272.txPortalRetxThresh;
if(!(((typeof data282 == "number") && (!(data282 % 1) && !isNaN(data282))) && (isFinite(data282)))){
const err475 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxThresh",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err475];
}
else {
vErrors.push(err475);
}
errors++;
}
}
if(data272.txPortalRetxScale !== undefined){
let data283 = data272.txPortalRetxScale;
if(!((typeof data283 == "number") && (isFinite(data283)))){
const err476 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxScale",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err476];
}
else {
vErrors.push(err476);
}
errors++;
}
}
if(data272.txPortalDupAckThresh !== undefined){
let data284 = data272.txPortalDupAckThresh;
if(!(((typeof data284 == "number") && (!(data284 % 1) && !isNaN(data284))) && (isFinite(data284)))){
const err477 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckThresh",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err477];
}
else {
vErrors.push(err477);
}
errors++;
}
}
if(data272.txPortalDupAckScale !== undefined){
let data285 = data272.txPortalDupAckScale;
if(!((typeof data285 == "number") && (isFinite(data285)))){
const err478 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckScale",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err478];
}
else {
vErrors.push(err478);
}
errors++;
}
}
if(data272.rxBufferSize !== undefined){
let data286 = data272.rxBufferSize;
if(!(((typeof data286 == "number") && (!(data286 % 1) && !isNaN(data286))) && (isFinite(data286)))){
const err479 = {instancePath:instancePath+"/listeners/" + i16+"/options/rxBufferSize",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err479];
}
else {
vErrors.push(err479);
}
errors++;
}
}
if(data272.retxStartMs !== undefined){
let data287 = data272.retxStartMs;
if(!(((typeof data287 == "number") && (!(data287 % 1) && !isNaN(data287))) && (isFinite(data287)))){
const err480 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxStartMs",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err480];
}
else {
vErrors.push(err480);
}
errors++;
}
}
if(data272.retxScale !== undefined){
let data288 = data272.retxScale;
if(!((typeof data288 == "number") && (isFinite(data288)))){
const err481 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxScale",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err481];
}
else {
vErrors.push(err481);
}
errors++;
}
}
if(data272.retxAddMs !== undefined){
let data289 = data272.retxAddMs;
if(!(((typeof data289 == "number") && (!(data289 % 1) && !isNaN(data289))) && (isFinite(data289)))){
const err482 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxAddMs",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err482];
}
else {
vErrors.push(err482);
}
errors++;
}
}
if(data272.retxMaxMs !== undefined){
let data290 = data272.retxMaxMs;
if(!(((typeof data290 == "number") && (!(data290 % 1) && !isNaN(data290))) && (isFinite(data290)))){
const err483 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxMaxMs",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err483];
}
else {
vErrors.push(err483);
}
errors++;
}
}
if(data272.maxRttScale !== undefined){
let data291 = data272.maxRttScale;
if(!(((typeof data291 == "number") && (!(data291 % 1) && !isNaN(data291))) && (isFinite(data291)))){
const err484 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxRttScale",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err484];
}
else {
vErrors.push(err484);
}
errors++;
}
}
if(data272.maxCloseWaitMs !== undefined){
let data292 = data272.maxCloseWaitMs;
if(!(((typeof data292 == "number") && (!(data292 % 1) && !isNaN(data292))) && (isFinite(data292)))){
const err485 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxCloseWaitMs",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err485];
}
else {
vErrors.push(err485);
}
errors++;
}
}
if(data272.getCircuitTimeout !== undefined){
let data293 = data272.getCircuitTimeout;
if(typeof data293 === "string"){
if(!(formats6(data293))){
const err486 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err486];
}
else {
vErrors.push(err486);
}
errors++;
}
}
else {
const err487 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err487];
}
else {
vErrors.push(err487);
}
errors++;
}
}
if(data272.circuitStartTimeout !== undefined){
let data294 = data272.circuitStartTimeout;
if(typeof data294 === "string"){
if(!(formats6(data294))){
const err488 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err488];
}
else {
vErrors.push(err488);
}
errors++;
}
}
else {
const err489 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err489];
}
else {
vErrors.push(err489);
}
errors++;
}
}
if(data272.connectTimeout !== undefined){
let data295 = data272.connectTimeout;
if(typeof data295 === "string"){
if(!(formats6(data295))){
const err490 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err490];
}
else {
vErrors.push(err490);
}
errors++;
}
}
else {
const err491 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err491];
}
else {
vErrors.push(err491);
}
errors++;
}
}
if(data272.advertise !== undefined){
let data296 = data272.advertise;
if(typeof data296 === "string"){
if(!(formats44(data296))){
const err492 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/advertise/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err492];
}
else {
vErrors.push(err492);
}
errors++;
}
}
else {
const err493 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err493];
}
else {
vErrors.push(err493);
}
errors++;
}
}
}
else {
const err494 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/3/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err494];
}
else {
vErrors.push(err494);
}
errors++;
}
}
}
else {
const err495 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/3/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err495];
}
else {
vErrors.push(err495);
}
errors++;
}
if(props0 !== true){
props0 = true;
}
}
else if(tag0 === "proxy"){
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err496 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/4/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err496];
}
else {
vErrors.push(err496);
}
errors++;
}
if(data167.address === undefined){
const err497 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/4/required",keyword:"required",params:{missingProperty: "address"}};
if(vErrors === null){
vErrors = [err497];
}
else {
vErrors.push(err497);
}
errors++;
}
if(data167.service === undefined){
const err498 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/4/required",keyword:"required",params:{missingProperty: "service"}};
if(vErrors === null){
vErrors = [err498];
}
else {
vErrors.push(err498);
}
errors++;
}
for(const key35 in data167){
if(!((((key35 === "binding") || (key35 === "address")) || (key35 === "service")) || (key35 === "options"))){
const err499 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/4/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key35}};
if(vErrors === null){
vErrors = [err499];
}
else {
vErrors.push(err499);
}
errors++;
}
}
if(data167.binding !== undefined){
let data297 = data167.binding;
if(typeof data297 !== "string"){
const err500 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/4/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err500];
}
else {
vErrors.push(err500);
}
errors++;
}
if("proxy" !== data297){
const err501 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/4/properties/binding/const",keyword:"const",params:{allowedValue: "proxy"}};
if(vErrors === null){
vErrors = [err501];
}
else {
vErrors.push(err501);
}
errors++;
}
}
if(data167.address !== undefined){
let data298 = data167.address;
if(typeof data298 === "string"){
if(!(formats0(data298))){
const err502 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/4/properties/address/format",keyword:"format",params:{format: "address"}};
if(vErrors === null){
vErrors = [err502];
}
else {
vErrors.push(err502);
}
errors++;
}
}
else {
const err503 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/4/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err503];
}
else {
vErrors.push(err503);
}
errors++;
}
}
if(data167.service !== undefined){
if(typeof data167.service !== "string"){
const err504 = {instancePath:instancePath+"/listeners/" + i16+"/service",schemaPath:"#/properties/listeners/items/oneOf/4/properties/service/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err504];
}
else {
vErrors.push(err504);
}
errors++;
}
}
if(data167.options !== undefined){
let data300 = data167.options;
if(data300 && typeof data300 == "object" && !Array.isArray(data300)){
for(const key36 in data300){
if(!(func0.call(schema0.properties.listeners.items.oneOf[4].properties.options.properties, key36))){
const err505 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key36}};
if(vErrors === null){
vErrors = [err505];
}
else {
vErrors.push(err505);
}
errors++;
}
}
if(data300.mtu !== undefined){
let data301 = data300.mtu;
if(!(((typeof data301 == "number") && (!(data301 % 1) && !isNaN(data301))) && (isFinite(data301)))){
const err506 = {instancePath:instancePath+"/listeners/" + i16+"/options/mtu",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err506];
}
else {
vErrors.push(err506);
}
errors++;
}
}
if(data300.randomDrops !== undefined){
if(typeof data300.randomDrops !== "boolean"){
const err507 = {instancePath:instancePath+"/listeners/" + i16+"/options/randomDrops",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err507];
}
else {
vErrors.push(err507);
}
errors++;
}
}
if(data300.drop1InN !== undefined){
let data303 = data300.drop1InN;
if(!(((typeof data303 == "number") && (!(data303 % 1) && !isNaN(data303))) && (isFinite(data303)))){
const err508 = {instancePath:instancePath+"/listeners/" + i16+"/options/drop1InN",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err508];
}
else {
vErrors.push(err508);
}
errors++;
}
}
if(data300.txQueueSize !== undefined){
let data304 = data300.txQueueSize;
if(!(((typeof data304 == "number") && (!(data304 % 1) && !isNaN(data304))) && (isFinite(data304)))){
const err509 = {instancePath:instancePath+"/listeners/" + i16+"/options/txQueueSize",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err509];
}
else {
vErrors.push(err509);
}
errors++;
}
}
if(data300.txPortalStartSize !== undefined){
let data305 = data300.txPortalStartSize;
if(!(((typeof data305 == "number") && (!(data305 % 1) && !isNaN(data305))) && (isFinite(data305)))){
const err510 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalStartSize",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err510];
}
else {
vErrors.push(err510);
}
errors++;
}
}
if(data300.txPortalMinSize !== undefined){
let data306 = data300.txPortalMinSize;
if(!(((typeof data306 == "number") && (!(data306 % 1) && !isNaN(data306))) && (isFinite(data306)))){
const err511 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMinSize",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err511];
}
else {
vErrors.push(err511);
}
errors++;
}
}
if(data300.txPortalMaxSize !== undefined){
let data307 = data300.txPortalMaxSize;
if(!(((typeof data307 == "number") && (!(data307 % 1) && !isNaN(data307))) && (isFinite(data307)))){
const err512 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMaxSize",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err512];
}
else {
vErrors.push(err512);
}
errors++;
}
}
if(data300.txPortalIncreaseThresh !== undefined){
let data308 = data300.txPortalIncreaseThresh;
if(!(((typeof data308 == "number") && (!(data308 % 1) && !isNaN(data308))) && (isFinite(data308)))){
const err513 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err513];
}
else {
vErrors.push(err513);
}
errors++;
}
}
if(data300.txPortalIncreaseScale !== undefined){
let data309 = data300.txPortalIncreaseScale;
if(!((typeof data309 == "number") && (isFinite(data309)))){
const err514 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseScale",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err514];
}
else {
vErrors.push(err514);
}
errors++;
}
}
if(data300.txPortalRetxThresh !== undefined){
let data310 = data300.txPortalRetxThresh;
if(!(((typeof data310 == "number") && (!(data310 % 1) && !isNaN(data310))) && (isFinite(data310)))){
const err515 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxThresh",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err515];
}
else {
vErrors.push(err515);
}
errors++;
}
}
if(data300.txPortalRetxScale !== undefined){
let data311 = data300.txPortalRetxScale;
if(!((typeof data311 == "number") && (isFinite(data311)))){
const err516 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxScale",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err516];
}
else {
vErrors.push(err516);
}
errors++;
}
}
if(data300.txPortalDupAckThresh !== undefined){
let data312 = data300.txPortalDupAckThresh;
if(!(((typeof data312 == "number") && (!(data312 % 1) && !isNaN(data312))) && (isFinite(data312)))){
const err517 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckThresh",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err517];
}
else {
vErrors.push(err517);
}
errors++;
}
}
if(data300.txPortalDupAckScale !== undefined){
let data313 = data300.txPortalDupAckScale;
if(!((typeof data313 == "number") && (isFinite(data313)))){
const err518 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckScale",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err518];
}
else {
vErrors.push(err518);
}
errors++;
}
}
if(data300.rxBufferSize !== undefined){
let data314 = data300.rxBufferSize;
if(!(((typeof data314 == "number") && (!(data314 % 1) && !isNaN(data314))) && (isFinite(data314)))){
const err519 = {instancePath:instancePath+"/listeners/" + i16+"/options/rxBufferSize",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err519];
}
else {
vErrors.push(err519);
}
errors++;
}
}
if(data300.retxStartMs !== undefined){
let data315 = data300.retxStartMs;
if(!(((typeof data315 == "number") && (!(data315 % 1) && !isNaN(data315))) && (isFinite(data315)))){
const err520 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxStartMs",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err520];
}
else {
vErrors.push(err520);
}
errors++;
}
}
if(data300.retxScale !== undefined){
let data316 = data300.retxScale;
if(!((typeof data316 == "number") && (isFinite(data316)))){
const err521 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxScale",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err521];
}
else {
vErrors.push(err521);
}
errors++;
}
}
if(data300.retxAddMs !== undefined){
let data317 = data300.retxAddMs;
if(!(((typeof data317 == "number") && (!(data317 % 1) && !isNaN(data317))) && (isFinite(data317)))){
const err522 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxAddMs",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err522];
}
else {
vErrors.push(err522);
}
errors++;
}
}
if(data300.retxMaxMs !== undefined){
let data318 = data300.retxMaxMs;
if(!(((typeof data318 == "number") && (!(data318 % 1) && !isNaN(data318))) && (isFinite(data318)))){
const err523 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxMaxMs",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err523];
}
else {
vErrors.push(err523);
}
errors++;
}
}
if(data300.maxRttScale !== undefined){
let data319 = data300.maxRttScale;
if(!(((typeof data319 == "number") && (!(data319 % 1) && !isNaN(data319))) && (isFinite(data319)))){
const err524 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxRttScale",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err524];
}
else {
vErrors.push(err524);
}
errors++;
}
}
if(data300.maxCloseWaitMs !== undefined){
let data320 = data300.maxCloseWaitMs;
if(!(((typeof data320 == "number") && (!(data320 % 1) && !isNaN(data320))) && (isFinite(data320)))){
const err525 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxCloseWaitMs",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err525];
}
else {
vErrors.push(err525);
}
errors++;
}
}
if(data300.getCircuitTimeout !== undefined){
let data321 = data300.getCircuitTimeout;
if(typeof data321 === "string"){
if(!(formats6(data321))){
const err526 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err526];
}
else {
vErrors.push(err526);
}
errors++;
}
}
else {
const err527 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err527];
}
else {
vErrors.push(err527);
}
errors++;
}
}
if(data300.circuitStartTimeout !== undefined){
let data322 = data300.circuitStartTimeout;
if(typeof data322 === "string"){
if(!(formats6(data322))){
const err528 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err528];
}
else {
vErrors.push(err528);
}
errors++;
}
}
else {
const err529 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err529];
}
else {
vErrors.push(err529);
}
errors++;
}
}
if(data300.connectTimeout !== undefined){
let data323 = data300.connectTimeout;
if(typeof data323 === "string"){
if(!(formats6(data323))){
const err530 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err530];
}
else {
vErrors.push(err530);
}
errors++;
}
}
else {
const err531 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err531];
}
else {
vErrors.push(err531);
}
errors++;
}
}
if(data300.advertise !== undefined){
let data324 = data300.advertise;
if(typeof data324 === "string"){
if(!(formats44(data324))){
const err532 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/advertise/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err532];
}
else {
vErrors.push(err532);
}
errors++;
}
}
else {
const err533 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err533];
}
else {
vErrors.push(err533);
}
errors++;
}
}
}
else {
const err534 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/4/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err534];
}
else {
vErrors.push(err534);
}
errors++;
}
}
}
else {
const err535 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/4/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err535];
}
else {
vErrors.push(err535);
}
errors++;
}
if(props0 !== true){
props0 = true;
}
}
else if(tag0 === "proxy_udp"){
if(data167 && typeof data167 == "object" && !Array.isArray(data167)){
if(data167.binding === undefined){
const err536 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/5/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err536];
}
else {
vErrors.push(err536);
}
errors++;
}
if(data167.address === undefined){
const err537 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/5/required",keyword:"required",params:{missingProperty: "address"}};
if(vErrors === null){
vErrors = [err537];
}
else {
vErrors.push(err537);
}
errors++;
}
if(data167.service === undefined){
const err538 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/5/required",keyword:"required",params:{missingProperty: "service"}};
if(vErrors === null){
vErrors = [err538];
}
else {
vErrors.push(err538);
}
errors++;
}
for(const key37 in data167){
if(!((((key37 === "binding") || (key37 === "address")) || (key37 === "service")) || (key37 === "options"))){
const err539 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/5/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key37}};
if(vErrors === null){
vErrors = [err539];
}
else {
vErrors.push(err539);
}
errors++;
}
}
if(data167.binding !== undefined){
let data325 = data167.binding;
if(typeof data325 !== "string"){
const err540 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/5/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err540];
}
else {
vErrors.push(err540);
}
errors++;
}
if("proxy_udp" !== data325){
const err541 = {instancePath:instancePath+"/listeners/" + i16+"/binding",schemaPath:"#/properties/listeners/items/oneOf/5/properties/binding/const",keyword:"const",params:{allowedValue: "proxy_udp"}};
if(vErrors === null){
vErrors = [err541];
}
else {
vErrors.push(err541);
}
errors++;
}
}
if(data167.address !== undefined){
let data326 = data167.address;
if(typeof data326 === "string"){
if(!(formats134(data326))){
const err542 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/5/properties/address/format",keyword:"format",params:{format: "datagram-address"}};
if(vErrors === null){
vErrors = [err542];
}
else {
vErrors.push(err542);
}
errors++;
}
}
else {
const err543 = {instancePath:instancePath+"/listeners/" + i16+"/address",schemaPath:"#/properties/listeners/items/oneOf/5/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err543];
}
else {
vErrors.push(err543);
}
errors++;
}
}
if(data167.service !== undefined){
if(typeof data167.service !== "string"){
const err544 = {instancePath:instancePath+"/listeners/" + i16+"/service",schemaPath:"#/properties/listeners/items/oneOf/5/properties/service/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err544];
}
else {
vErrors.push(err544);
}
errors++;
}
}
if(data167.options !== undefined){
let data328 = data167.options;
if(data328 && typeof data328 == "object" && !Array.isArray(data328)){
for(const key38 in data328){
if(!(func0.call(schema0.properties.listeners.items.oneOf[5].properties.options.properties, key38))){
const err545 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key38}};
if(vErrors === null){
vErrors = [err545];
}
else {
vErrors.push(err545);
}
errors++;
}
}
if(data328.mtu !== undefined){
let data329 = data328.mtu;
if(!(((typeof data329 == "number") && (!(data329 % 1) && !isNaN(data329))) && (isFinite(data329)))){
const err546 = {instancePath:instancePath+"/listeners/" + i16+"/options/mtu",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err546];
}
else {
vErrors.push(err546);
}
errors++;
}
}
if(data328.randomDrops !== undefined){
if(typeof data328.randomDrops !== "boolean"){
const err547 = {instancePath:instancePath+"/listeners/" + i16+"/options/randomDrops",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err547];
}
else {
vErrors.push(err547);
}
errors++;
}
}
if(data328.drop1InN !== undefined){
let data331 = data328.drop1InN;
if(!(((typeof data331 == "number") && (!(data331 % 1) && !isNaN(data331))) && (isFinite(data331)))){
const err548 = {instancePath:instancePath+"/listeners/" + i16+"/options/drop1InN",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err548];
}
else {
vErrors.push(err548);
}
errors++;
}
}
if(data328.txQueueSize !== undefined){
let data332 = data328.txQueueSize;
if(!(((typeof data332 == "number") && (!(data332 % 1) && !isNaN(data332))) && (isFinite(data332)))){
const err549 = {instancePath:instancePath+"/listeners/" + i16+"/options/txQueueSize",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err549];
}
else {
vErrors.push(err549);
}
errors++;
}
}
if(data328.txPortalStartSize !== undefined){
let data333 = data328.txPortalStartSize;
if(!(((typeof data333 == "number") && (!(data333 % 1) && !isNaN(data333))) && (isFinite(data333)))){
const err550 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalStartSize",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err550];
}
else {
vErrors.push(err550);
}
errors++;
}
}
if(data328.txPortalMinSize !== undefined){
let data334 = data328.txPortalMinSize;
if(!(((typeof data334 == "number") && (!(data334 % 1) && !isNaN(data334))) && (isFinite(data334)))){
const err551 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMinSize",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err551];
}
else {
vErrors.push(err551);
}
errors++;
}
}
if(data328.txPortalMaxSize !== undefined){
let data335 = data328.txPortalMaxSize;
if(!(((typeof data335 == "number") && (!(data335 % 1) && !isNaN(data335))) && (isFinite(data335)))){
const err552 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalMaxSize",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err552];
}
else {
vErrors.push(err552);
}
errors++;
}
}
if(data328.txPortalIncreaseThresh !== undefined){
let data336 = data328.txPortalIncreaseThresh;
if(!(((typeof data336 == "number") && (!(data336 % 1) && !isNaN(data336))) && (isFinite(data336)))){
const err553 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err553];
}
else {
vErrors.push(err553);
}
errors++;
}
}
if(data328.txPortalIncreaseScale !== undefined){
let data337 = data328.txPortalIncreaseScale;
if(!((typeof data337 == "number") && (isFinite(data337)))){
const err554 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalIncreaseScale",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err554];
}
else {
vErrors.push(err554);
}
errors++;
}
}
if(data328.txPortalRetxThresh !== undefined){
let data338 = data328.txPortalRetxThresh;
if(!(((typeof data338 == "number") && (!(data338 % 1) && !isNaN(data338))) && (isFinite(data338)))){
const err555 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxThresh",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err555];
}
else {
vErrors.push(err555);
}
errors++;
}
}
if(data328.txPortalRetxScale !== undefined){
let data339 = data328.txPortalRetxScale;
if(!((typeof data339 == "number") && (isFinite(data339)))){
const err556 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalRetxScale",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err556];
}
else {
vErrors.push(err556);
}
errors++;
}
}
if(data328.txPortalDupAckThresh !== undefined){
let data340 = data328.txPortalDupAckThresh;
if(!(((typeof data340 == "number") && (!(data340 % 1) && !isNaN(data340))) && (isFinite(data340)))){
const err557 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckThresh",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err557];
}
else {
vErrors.push(err557);
}
errors++;
}
}
if(data328.txPortalDupAckScale !== undefined){
let data341 = data328.txPortalDupAckScale;
if(!((typeof data341 == "number") && (isFinite(data341)))){
const err558 = {instancePath:instancePath+"/listeners/" + i16+"/options/txPortalDupAckScale",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err558];
}
else {
vErrors.push(err558);
}
errors++;
}
}
if(data328.rxBufferSize !== undefined){
let data342 = data328.rxBufferSize;
if(!(((typeof data342 == "number") && (!(data342 % 1) && !isNaN(data342))) && (isFinite(data342)))){
const err559 = {instancePath:instancePath+"/listeners/" + i16+"/options/rxBufferSize",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err559];
}
else {
vErrors.push(err559);
}
errors++;
}
}
if(data328.retxStartMs !== undefined){
let data343 = data328.retxStartMs;
if(!(((typeof data343 == "number") && (!(data343 % 1) && !isNaN(data343))) && (isFinite(data343)))){
const err560 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxStartMs",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err560];
}
else {
vErrors.push(err560);
}
errors++;
}
}
if(data328.retxScale !== undefined){
let data344 = data328.retxScale;
if(!((typeof data344 == "number") && (isFinite(data344)))){
const err561 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxScale",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err561];
}
else {
vErrors.push(err561);
}
errors++;
}
}
if(data328.retxAddMs !== undefined){
let data345 = data328.retxAddMs;
if(!(((typeof data345 == "number") && (!(data345 % 1) && !isNaN(data345))) && (isFinite(data345)))){
const err562 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxAddMs",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err562];
}
else {
vErrors.push(err562);
}
errors++;
}
}
if(data328.retxMaxMs !== undefined){
let data346 = data328.retxMaxMs;
if(!(((typeof data346 == "number") && (!(data346 % 1) && !isNaN(data346))) && (isFinite(data346)))){
const err563 = {instancePath:instancePath+"/listeners/" + i16+"/options/retxMaxMs",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err563];
}
else {
vErrors.push(err563);
}
errors++;
}
}
if(data328.maxRttScale !== undefined){
let data347 = data328.maxRttScale;
if(!(((typeof data347 == "number") && (!(data347 % 1) && !isNaN(data347))) && (isFinite(data347)))){
const err564 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxRttScale",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err564];
}
else {
vErrors.push(err564);
}
errors++;
}
}
if(data328.maxCloseWaitMs !== undefined){
let data348 = data328.maxCloseWaitMs;
if(!(((typeof data348 == "number") && (!(data348 % 1) && !isNaN(data348))) && (isFinite(data348)))){
const err565 = {instancePath:instancePath+"/listeners/" + i16+"/options/maxCloseWaitMs",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err565];
}
else {
vErrors.push(err565);
}
errors++;
}
}
if(data328.getCircuitTimeout !== undefined){
let data349 = data328.getCircuitTimeout;
if(typeof data349 === "string"){
if(!(formats6(data349))){
const err566 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err566];
}
else {
vErrors.push(err566);
}
errors++;
}
}
else {
const err567 = {instancePath:instancePath+"/listeners/" + i16+"/options/getCircuitTimeout",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err567];
}
else {
vErrors.push(err567);
}
errors++;
}
}
if(data328.circuitStartTimeout !== undefined){
let data350 = data328.circuitStartTimeout;
if(typeof data350 === "string"){
if(!(formats6(data350))){
const err568 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err568];
}
else {
vErrors.push(err568);
}
errors++;
}
}
else {
const err569 = {instancePath:instancePath+"/listeners/" + i16+"/options/circuitStartTimeout",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err569];
}
else {
vErrors.push(err569);
}
errors++;
}
}
if(data328.connectTimeout !== undefined){
let data351 = data328.connectTimeout;
if(typeof data351 === "string"){
if(!(formats6(data351))){
const err570 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err570];
}
else {
vErrors.push(err570);
}
errors++;
}
}
else {
const err571 = {instancePath:instancePath+"/listeners/" + i16+"/options/connectTimeout",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err571];
}
else {
vErrors.push(err571);
}
errors++;
}
}
if(data328.advertise !== undefined){
let data352 = data328.advertise;
if(typeof data352 === "string"){
if(!(formats44(data352))){
const err572 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/advertise/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err572];
}
else {
vErrors.push(err572);
}
errors++;
}
}
else {
const err573 = {instancePath:instancePath+"/listeners/" + i16+"/options/advertise",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/properties/advertise/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err573];
}
else {
vErrors.push(err573);
}
errors++;
}
}
}
else {
const err574 = {instancePath:instancePath+"/listeners/" + i16+"/options",schemaPath:"#/properties/listeners/items/oneOf/5/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err574];
}
else {
vErrors.push(err574);
}
errors++;
}
}
}
else {
const err575 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/oneOf/5/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err575];
}
else {
vErrors.push(err575);
}
errors++;
}
if(props0 !== true){
props0 = true;
}
}
else {
const err576 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/discriminator",keyword:"discriminator",params:{error: "mapping", tag: "binding", tagValue: tag0}};
if(vErrors === null){
vErrors = [err576];
}
else {
vErrors.push(err576);
}
errors++;
}
}
else {
const err577 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/discriminator",keyword:"discriminator",params:{error: "tag", tag: "binding", tagValue: tag0}};
if(vErrors === null){
vErrors = [err577];
}
else {
vErrors.push(err577);
}
errors++;
}
}
else {
const err578 = {instancePath:instancePath+"/listeners/" + i16,schemaPath:"#/properties/listeners/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err578];
}
else {
vErrors.push(err578);
}
errors++;
}
}
}
else {
const err579 = {instancePath:instancePath+"/listeners",schemaPath:"#/properties/listeners/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err579];
}
else {
vErrors.push(err579);
}
errors++;
}
}
if(data.dialers !== undefined){
let data353 = data.dialers;
if(Array.isArray(data353)){
const len21 = data353.length;
for(let i21=0; i21<len21; i21++){
let data354 = data353[i21];
if(data354 && typeof data354 == "object" && !Array.isArray(data354)){
if(data354.binding === undefined){
const err580 = {instancePath:instancePath+"/dialers/" + i21,schemaPath:"#/properties/dialers/items/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err580];
}
else {
vErrors.push(err580);
}
errors++;
}
for(const key39 in data354){
if(!((key39 === "binding") || (key39 === "options"))){
const err581 = {instancePath:instancePath+"/dialers/" + i21,schemaPath:"#/properties/dialers/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key39}};
if(vErrors === null){
vErrors = [err581];
}
else {
vErrors.push(err581);
}
errors++;
}
}
if(data354.binding !== undefined){
if(typeof data354.binding !== "string"){
const err582 = {instancePath:instancePath+"/dialers/" + i21+"/binding",schemaPath:"#/properties/dialers/items/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err582];
}
else {
vErrors.push(err582);
}
errors++;
}
}
if(data354.options !== undefined){
let data356 = data354.options;
if(data356 && typeof data356 == "object" && !Array.isArray(data356)){
for(const key40 in data356){
if(!(func0.call(schema0.properties.dialers.items.properties.options.properties, key40))){
const err583 = {instancePath:instancePath+"/dialers/" + i21+"/options",schemaPath:"#/properties/dialers/items/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key40}};
if(vErrors === null){
vErrors = [err583];
}
else {
vErrors.push(err583);
}
errors++;
}
}
if(data356.mtu !== undefined){
let data357 = data356.mtu;
if(!(((typeof data357 == "number") && (!(data357 % 1) && !isNaN(data357))) && (isFinite(data357)))){
const err584 = {instancePath:instancePath+"/dialers/" + i21+"/options/mtu",schemaPath:"#/properties/dialers/items/properties/options/properties/mtu/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err584];
}
else {
vErrors.push(err584);
}
errors++;
}
}
if(data356.randomDrops !== undefined){
if(typeof data356.randomDrops !== "boolean"){
const err585 = {instancePath:instancePath+"/dialers/" + i21+"/options/randomDrops",schemaPath:"#/properties/dialers/items/properties/options/properties/randomDrops/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err585];
}
else {
vErrors.push(err585);
}
errors++;
}
}
if(data356.drop1InN !== undefined){
let data359 = data356.drop1InN;
if(!(((typeof data359 == "number") && (!(data359 % 1) && !isNaN(data359))) && (isFinite(data359)))){
const err586 = {instancePath:instancePath+"/dialers/" + i21+"/options/drop1InN",schemaPath:"#/properties/dialers/items/properties/options/properties/drop1InN/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err586];
}
else {
vErrors.push(err586);
}
errors++;
}
}
if(data356.txQueueSize !== undefined){
let data360 = data356.txQueueSize;
if(!(((typeof data360 == "number") && (!(data360 % 1) && !isNaN(data360))) && (isFinite(data360)))){
const err587 = {instancePath:instancePath+"/dialers/" + i21+"/options/txQueueSize",schemaPath:"#/properties/dialers/items/properties/options/properties/txQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err587];
}
else {
vErrors.push(err587);
}
errors++;
}
}
if(data356.txPortalStartSize !== undefined){
let data361 = data356.txPortalStartSize;
if(!(((typeof data361 == "number") && (!(data361 % 1) && !isNaN(data361))) && (isFinite(data361)))){
const err588 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalStartSize",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalStartSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err588];
}
else {
vErrors.push(err588);
}
errors++;
}
}
if(data356.txPortalMinSize !== undefined){
let data362 = data356.txPortalMinSize;
if(!(((typeof data362 == "number") && (!(data362 % 1) && !isNaN(data362))) && (isFinite(data362)))){
const err589 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalMinSize",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalMinSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err589];
}
else {
vErrors.push(err589);
}
errors++;
}
}
if(data356.txPortalMaxSize !== undefined){
let data363 = data356.txPortalMaxSize;
if(!(((typeof data363 == "number") && (!(data363 % 1) && !isNaN(data363))) && (isFinite(data363)))){
const err590 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalMaxSize",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalMaxSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err590];
}
else {
vErrors.push(err590);
}
errors++;
}
}
if(data356.txPortalIncreaseThresh !== undefined){
let data364 = data356.txPortalIncreaseThresh;
if(!(((typeof data364 == "number") && (!(data364 % 1) && !isNaN(data364))) && (isFinite(data364)))){
const err591 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalIncreaseThresh",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalIncreaseThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err591];
}
else {
vErrors.push(err591);
}
errors++;
}
}
if(data356.txPortalIncreaseScale !== undefined){
let data365 = data356.txPortalIncreaseScale;
if(!((typeof data365 == "number") && (isFinite(data365)))){
const err592 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalIncreaseScale",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalIncreaseScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err592];
}
else {
vErrors.push(err592);
}
errors++;
}
}
if(data356.txPortalRetxThresh !== undefined){
let data366 = data356.txPortalRetxThresh;
if(!(((typeof data366 == "number") && (!(data366 % 1) && !isNaN(data366))) && (isFinite(data366)))){
const err593 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalRetxThresh",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalRetxThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err593];
}
else {
vErrors.push(err593);
}
errors++;
}
}
if(data356.txPortalRetxScale !== undefined){
let data367 = data356.txPortalRetxScale;
if(!((typeof data367 == "number") && (isFinite(data367)))){
const err594 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalRetxScale",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalRetxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err594];
}
else {
vErrors.push(err594);
}
errors++;
}
}
if(data356.txPortalDupAckThresh !== undefined){
let data368 = data356.txPortalDupAckThresh;
if(!(((typeof data368 == "number") && (!(data368 % 1) && !isNaN(data368))) && (isFinite(data368)))){
const err595 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalDupAckThresh",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalDupAckThresh/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err595];
}
else {
vErrors.push(err595);
}
errors++;
}
}
if(data356.txPortalDupAckScale !== undefined){
let data369 = data356.txPortalDupAckScale;
if(!((typeof data369 == "number") && (isFinite(data369)))){
const err596 = {instancePath:instancePath+"/dialers/" + i21+"/options/txPortalDupAckScale",schemaPath:"#/properties/dialers/items/properties/options/properties/txPortalDupAckScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err596];
}
else {
vErrors.push(err596);
}
errors++;
}
}
if(data356.rxBufferSize !== undefined){
let data370 = data356.rxBufferSize;
if(!(((typeof data370 == "number") && (!(data370 % 1) && !isNaN(data370))) && (isFinite(data370)))){
const err597 = {instancePath:instancePath+"/dialers/" + i21+"/options/rxBufferSize",schemaPath:"#/properties/dialers/items/properties/options/properties/rxBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err597];
}
else {
vErrors.push(err597);
}
errors++;
}
}
if(data356.retxStartMs !== undefined){
let data371 = data356.retxStartMs;
if(!(((typeof data371 == "number") && (!(data371 % 1) && !isNaN(data371))) && (isFinite(data371)))){
const err598 = {instancePath:instancePath+"/dialers/" + i21+"/options/retxStartMs",schemaPath:"#/properties/dialers/items/properties/options/properties/retxStartMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err598];
}
else {
vErrors.push(err598);
}
errors++;
}
}
if(data356.retxScale !== undefined){
let data372 = data356.retxScale;
if(!((typeof data372 == "number") && (isFinite(data372)))){
const err599 = {instancePath:instancePath+"/dialers/" + i21+"/options/retxScale",schemaPath:"#/properties/dialers/items/properties/options/properties/retxScale/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err599];
}
else {
vErrors.push(err599);
}
errors++;
}
}
if(data356.retxAddMs !== undefined){
let data373 = data356.retxAddMs;
if(!(((typeof data373 == "number") && (!(data373 % 1) && !isNaN(data373))) && (isFinite(data373)))){
const err600 = {instancePath:instancePath+"/dialers/" + i21+"/options/retxAddMs",schemaPath:"#/properties/dialers/items/properties/options/properties/retxAddMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err600];
}
else {
vErrors.push(err600);
}
errors++;
}
}
if(data356.retxMaxMs !== undefined){
let data374 = data356.retxMaxMs;
if(!(((typeof data374 == "number") && (!(data374 % 1) && !isNaN(data374))) && (isFinite(data374)))){
const err601 = {instancePath:instancePath+"/dialers/" + i21+"/options/retxMaxMs",schemaPath:"#/properties/dialers/items/properties/options/properties/retxMaxMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err601];
}
else {
vErrors.push(err601);
}
errors++;
}
}
if(data356.maxRttScale !== undefined){
let data375 = data356.maxRttScale;
if(!(((typeof data375 == "number") && (!(data375 % 1) && !isNaN(data375))) && (isFinite(data375)))){
const err602 = {instancePath:instancePath+"/dialers/" + i21+"/options/maxRttScale",schemaPath:"#/properties/dialers/items/properties/options/properties/maxRttScale/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err602];
}
else {
vErrors.push(err602);
}
errors++;
}
}
if(data356.maxCloseWaitMs !== undefined){
let data376 = data356.maxCloseWaitMs;
if(!(((typeof data376 == "number") && (!(data376 % 1) && !isNaN(data376))) && (isFinite(data376)))){
const err603 = {instancePath:instancePath+"/dialers/" + i21+"/options/maxCloseWaitMs",schemaPath:"#/properties/dialers/items/properties/options/properties/maxCloseWaitMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err603];
}
else {
vErrors.push(err603);
}
errors++;
}
}
if(data356.getCircuitTimeout !== undefined){
let data377 = data356.getCircuitTimeout;
if(typeof data377 === "string"){
if(!(formats6(data377))){
const err604 = {instancePath:instancePath+"/dialers/" + i21+"/options/getCircuitTimeout",schemaPath:"#/properties/dialers/items/properties/options/properties/getCircuitTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err604];
}
else {
vErrors.push(err604);
}
errors++;
}
}
else {
const err605 = {instancePath:instancePath+"/dialers/" + i21+"/options/getCircuitTimeout",schemaPath:"#/properties/dialers/items/properties/options/properties/getCircuitTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err605];
}
else {
vErrors.push(err605);
}
errors++;
}
}
if(data356.circuitStartTimeout !== undefined){
let data378 = data356.circuitStartTimeout;
if(typeof data378 === "string"){
if(!(formats6(data378))){
const err606 = {instancePath:instancePath+"/dialers/" + i21+"/options/circuitStartTimeout",schemaPath:"#/properties/dialers/items/properties/options/properties/circuitStartTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err606];
}
else {
vErrors.push(err606);
}
errors++;
}
}
else {
const err607 = {instancePath:instancePath+"/dialers/" + i21+"/options/circuitStartTimeout",schemaPath:"#/properties/dialers/items/properties/options/properties/circuitStartTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err607];
}
else {
vErrors.push(err607);
}
errors++;
}
}
if(data356.connectTimeout !== undefined){
let data379 = data356.connectTimeout;
if(typeof data379 === "string"){
if(!(formats6(data379))){
const err608 = {instancePath:instancePath+"/dialers/" + i21+"/options/connectTimeout",schemaPath:"#/properties/dialers/items/properties/options/properties/connectTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err608];
}
else {
vErrors.push(err608);
}
errors++;
}
}
else {
const err609 = {instancePath:instancePath+"/dialers/" + i21+"/options/connectTimeout",schemaPath:"#/properties/dialers/items/properties/options/properties/connectTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err609];
}
else {
vErrors.push(err609);
}
errors++;
}
}
}
else {
const err610 = {instancePath:instancePath+"/dialers/" + i21+"/options",schemaPath:"#/properties/dialers/items/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err610];
}
else {
vErrors.push(err610);
}
errors++;
}
}
}
else {
const err611 = {instancePath:instancePath+"/dialers/" + i21,schemaPath:"#/properties/dialers/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err611];
}
else {
vErrors.push(err611);
}
errors++;
}
}
}
else {
const err612 = {instancePath:instancePath+"/dialers",schemaPath:"#/properties/dialers/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err612];
}
else {
vErrors.push(err612);
}
errors++;
}
}
if(data.metrics !== undefined){
let data380 = data.metrics;
if(data380 && typeof data380 == "object" && !Array.isArray(data380)){
for(const key41 in data380){
if(!(((((key41 === "reportInterval") || (key41 === "intervalAgeThreshold")) || (key41 === "messageQueueSize")) || (key41 === "eventQueueSize")) || (key41 === "enableDataDelayMetric"))){
const err613 = {instancePath:instancePath+"/metrics",schemaPath:"#/properties/metrics/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key41}};
if(vErrors === null){
vErrors = [err613];
}
else {
vErrors.push(err613);
}
errors++;
}
}
if(data380.reportInterval !== undefined){
let data381 = data380.reportInterval;
if(typeof data381 === "string"){
if(!(formats6(data381))){
const err614 = {instancePath:instancePath+"/metrics/reportInterval",schemaPath:"#/properties/metrics/properties/reportInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err614];
}
else {
vErrors.push(err614);
}
errors++;
}
}
else {
const err615 = {instancePath:instancePath+"/metrics/reportInterval",schemaPath:"#/properties/metrics/properties/reportInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err615];
}
else {
vErrors.push(err615);
}
errors++;
}
}
if(data380.intervalAgeThreshold !== undefined){
let data382 = data380.intervalAgeThreshold;
if(typeof data382 === "string"){
if(!(formats6(data382))){
const err616 = {instancePath:instancePath+"/metrics/intervalAgeThreshold",schemaPath:"#/properties/metrics/properties/intervalAgeThreshold/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err616];
}
else {
vErrors.push(err616);
}
errors++;
}
}
else {
const err617 = {instancePath:instancePath+"/metrics/intervalAgeThreshold",schemaPath:"#/properties/metrics/properties/intervalAgeThreshold/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err617];
}
else {
vErrors.push(err617);
}
errors++;
}
}
if(data380.messageQueueSize !== undefined){
let data383 = data380.messageQueueSize;
if(!(((typeof data383 == "number") && (!(data383 % 1) && !isNaN(data383))) && (isFinite(data383)))){
const err618 = {instancePath:instancePath+"/metrics/messageQueueSize",schemaPath:"#/properties/metrics/properties/messageQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err618];
}
else {
vErrors.push(err618);
}
errors++;
}
if((typeof data383 == "number") && (isFinite(data383))){
if(data383 < 0 || isNaN(data383)){
const err619 = {instancePath:instancePath+"/metrics/messageQueueSize",schemaPath:"#/properties/metrics/properties/messageQueueSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err619];
}
else {
vErrors.push(err619);
}
errors++;
}
}
}
if(data380.eventQueueSize !== undefined){
let data384 = data380.eventQueueSize;
if(!(((typeof data384 == "number") && (!(data384 % 1) && !isNaN(data384))) && (isFinite(data384)))){
const err620 = {instancePath:instancePath+"/metrics/eventQueueSize",schemaPath:"#/properties/metrics/properties/eventQueueSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err620];
}
else {
vErrors.push(err620);
}
errors++;
}
}
if(data380.enableDataDelayMetric !== undefined){
if(typeof data380.enableDataDelayMetric !== "boolean"){
const err621 = {instancePath:instancePath+"/metrics/enableDataDelayMetric",schemaPath:"#/properties/metrics/properties/enableDataDelayMetric/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err621];
}
else {
vErrors.push(err621);
}
errors++;
}
}
}
else {
const err622 = {instancePath:instancePath+"/metrics",schemaPath:"#/properties/metrics/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err622];
}
else {
vErrors.push(err622);
}
errors++;
}
}
if(data.trace !== undefined){
let data386 = data.trace;
if(data386 && typeof data386 == "object" && !Array.isArray(data386)){
for(const key42 in data386){
if(!(key42 === "path")){
const err623 = {instancePath:instancePath+"/trace",schemaPath:"#/properties/trace/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key42}};
if(vErrors === null){
vErrors = [err623];
}
else {
vErrors.push(err623);
}
errors++;
}
}
if(data386.path !== undefined){
if(typeof data386.path !== "string"){
const err624 = {instancePath:instancePath+"/trace/path",schemaPath:"#/properties/trace/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err624];
}
else {
vErrors.push(err624);
}
errors++;
}
}
}
else {
const err625 = {instancePath:instancePath+"/trace",schemaPath:"#/properties/trace/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err625];
}
else {
vErrors.push(err625);
}
errors++;
}
}
if(data.profile !== undefined){
let data388 = data.profile;
if(data388 && typeof data388 == "object" && !Array.isArray(data388)){
for(const key43 in data388){
if(!((key43 === "cpu") || (key43 === "memory"))){
const err626 = {instancePath:instancePath+"/profile",schemaPath:"#/properties/profile/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key43}};
if(vErrors === null){
vErrors = [err626];
}
else {
vErrors.push(err626);
}
errors++;
}
}
if(data388.cpu !== undefined){
let data389 = data388.cpu;
if(data389 && typeof data389 == "object" && !Array.isArray(data389)){
if(data389.path === undefined){
const err627 = {instancePath:instancePath+"/profile/cpu",schemaPath:"#/properties/profile/properties/cpu/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err627];
}
else {
vErrors.push(err627);
}
errors++;
}
for(const key44 in data389){
if(!(key44 === "path")){
const err628 = {instancePath:instancePath+"/profile/cpu",schemaPath:"#/properties/profile/properties/cpu/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key44}};
if(vErrors === null){
vErrors = [err628];
}
else {
vErrors.push(err628);
}
errors++;
}
}
if(data389.path !== undefined){
if(typeof data389.path !== "string"){
const err629 = {instancePath:instancePath+"/profile/cpu/path",schemaPath:"#/properties/profile/properties/cpu/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err629];
}
else {
vErrors.push(err629);
}
errors++;
}
}
}
else {
const err630 = {instancePath:instancePath+"/profile/cpu",schemaPath:"#/properties/profile/properties/cpu/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err630];
}
else {
vErrors.push(err630);
}
errors++;
}
}
if(data388.memory !== undefined){
let data391 = data388.memory;
if(data391 && typeof data391 == "object" && !Array.isArray(data391)){
if(data391.path === undefined){
const err631 = {instancePath:instancePath+"/profile/memory",schemaPath:"#/properties/profile/properties/memory/required",keyword:"required",params:{missingProperty: "path"}};
if(vErrors === null){
vErrors = [err631];
}
else {
vErrors.push(err631);
}
errors++;
}
for(const key45 in data391){
if(!((key45 === "path") || (key45 === "intervalMs"))){
const err632 = {instancePath:instancePath+"/profile/memory",schemaPath:"#/properties/profile/properties/memory/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key45}};
if(vErrors === null){
vErrors = [err632];
}
else {
vErrors.push(err632);
}
errors++;
}
}
if(data391.path !== undefined){
if(typeof data391.path !== "string"){
const err633 = {instancePath:instancePath+"/profile/memory/path",schemaPath:"#/properties/profile/properties/memory/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err633];
}
else {
vErrors.push(err633);
}
errors++;
}
}
if(data391.intervalMs !== undefined){
let data393 = data391.intervalMs;
if(!(((typeof data393 == "number") && (!(data393 % 1) && !isNaN(data393))) && (isFinite(data393)))){
const err634 = {instancePath:instancePath+"/profile/memory/intervalMs",schemaPath:"#/properties/profile/properties/memory/properties/intervalMs/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err634];
}
else {
vErrors.push(err634);
}
errors++;
}
if((typeof data393 == "number") && (isFinite(data393))){
if(data393 < 1 || isNaN(data393)){
const err635 = {instancePath:instancePath+"/profile/memory/intervalMs",schemaPath:"#/properties/profile/properties/memory/properties/intervalMs/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err635];
}
else {
vErrors.push(err635);
}
errors++;
}
}
}
}
else {
const err636 = {instancePath:instancePath+"/profile/memory",schemaPath:"#/properties/profile/properties/memory/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err636];
}
else {
vErrors.push(err636);
}
errors++;
}
}
}
else {
const err637 = {instancePath:instancePath+"/profile",schemaPath:"#/properties/profile/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err637];
}
else {
vErrors.push(err637);
}
errors++;
}
}
if(data.transport !== undefined){
let data394 = data.transport;
if(data394 && typeof data394 == "object" && !Array.isArray(data394)){
for(const key46 in data394){
if(!((((((key46 === "protocol") || (key46 === "handshakeTimeout")) || (key46 === "proxy")) || (key46 === "wss")) || (key46 === "westworld3")) || (key46 === "dtls"))){
const err638 = {instancePath:instancePath+"/transport",schemaPath:"#/properties/transport/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key46}};
if(vErrors === null){
vErrors = [err638];
}
else {
vErrors.push(err638);
}
errors++;
}
}
if(data394.protocol !== undefined){
if(typeof data394.protocol !== "string"){
const err639 = {instancePath:instancePath+"/transport/protocol",schemaPath:"#/properties/transport/properties/protocol/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err639];
}
else {
vErrors.push(err639);
}
errors++;
}
}
if(data394.handshakeTimeout !== undefined){
let data396 = data394.handshakeTimeout;
if(typeof data396 === "string"){
if(!(formats6(data396))){
const err640 = {instancePath:instancePath+"/transport/handshakeTimeout",schemaPath:"#/properties/transport/properties/handshakeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err640];
}
else {
vErrors.push(err640);
}
errors++;
}
}
else {
const err641 = {instancePath:instancePath+"/transport/handshakeTimeout",schemaPath:"#/properties/transport/properties/handshakeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err641];
}
else {
vErrors.push(err641);
}
errors++;
}
}
if(data394.proxy !== undefined){
let data397 = data394.proxy;
if(data397 && typeof data397 == "object" && !Array.isArray(data397)){
if(data397.type === undefined){
const err642 = {instancePath:instancePath+"/transport/proxy",schemaPath:"#/$defs/proxy/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err642];
}
else {
vErrors.push(err642);
}
errors++;
}
for(const key47 in data397){
if(!((((key47 === "type") || (key47 === "address")) || (key47 === "username")) || (key47 === "password"))){
const err643 = {instancePath:instancePath+"/transport/proxy",schemaPath:"#/$defs/proxy/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key47}};
if(vErrors === null){
vErrors = [err643];
}
else {
vErrors.push(err643);
}
errors++;
}
}
if(data397.type !== undefined){
let data398 = data397.type;
if(typeof data398 !== "string"){
const err644 = {instancePath:instancePath+"/transport/proxy/type",schemaPath:"#/$defs/proxy/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err644];
}
else {
vErrors.push(err644);
}
errors++;
}
if(!((data398 === "none") || (data398 === "http"))){
const err645 = {instancePath:instancePath+"/transport/proxy/type",schemaPath:"#/$defs/proxy/properties/type/enum",keyword:"enum",params:{allowedValues: schema1.properties.type.enum}};
if(vErrors === null){
vErrors = [err645];
}
else {
vErrors.push(err645);
}
errors++;
}
}
if(data397.address !== undefined){
let data399 = data397.address;
if(typeof data399 === "string"){
if(!(formats44(data399))){
const err646 = {instancePath:instancePath+"/transport/proxy/address",schemaPath:"#/$defs/proxy/properties/address/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err646];
}
else {
vErrors.push(err646);
}
errors++;
}
}
else {
const err647 = {instancePath:instancePath+"/transport/proxy/address",schemaPath:"#/$defs/proxy/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err647];
}
else {
vErrors.push(err647);
}
errors++;
}
}
if(data397.username !== undefined){
if(typeof data397.username !== "string"){
const err648 = {instancePath:instancePath+"/transport/proxy/username",schemaPath:"#/$defs/proxy/properties/username/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err648];
}
else {
vErrors.push(err648);
}
errors++;
}
}
if(data397.password !== undefined){
if(typeof data397.password !== "string"){
const err649 = {instancePath:instancePath+"/transport/proxy/password",schemaPath:"#/$defs/proxy/properties/password/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err649];
}
else {
vErrors.push(err649);
}
errors++;
}
}
}
else {
const err650 = {instancePath:instancePath+"/transport/proxy",schemaPath:"#/$defs/proxy/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err650];
}
else {
vErrors.push(err650);
}
errors++;
}
}
if(data394.wss !== undefined){
let data402 = data394.wss;
if(data402 && typeof data402 == "object" && !Array.isArray(data402)){
for(const key48 in data402){
if(!(func0.call(schema0.properties.transport.properties.wss.properties, key48))){
const err651 = {instancePath:instancePath+"/transport/wss",schemaPath:"#/properties/transport/properties/wss/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key48}};
if(vErrors === null){
vErrors = [err651];
}
else {
vErrors.push(err651);
}
errors++;
}
}
if(data402.writeTimeout !== undefined){
let data403 = data402.writeTimeout;
if(!(((typeof data403 == "number") && (!(data403 % 1) && !isNaN(data403))) && (isFinite(data403)))){
const err652 = {instancePath:instancePath+"/transport/wss/writeTimeout",schemaPath:"#/properties/transport/properties/wss/properties/writeTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err652];
}
else {
vErrors.push(err652);
}
errors++;
}
if((typeof data403 == "number") && (isFinite(data403))){
if(data403 < 0 || isNaN(data403)){
const err653 = {instancePath:instancePath+"/transport/wss/writeTimeout",schemaPath:"#/properties/transport/properties/wss/properties/writeTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err653];
}
else {
vErrors.push(err653);
}
errors++;
}
}
}
if(data402.readTimeout !== undefined){
let data404 = data402.readTimeout;
if(!(((typeof data404 == "number") && (!(data404 % 1) && !isNaN(data404))) && (isFinite(data404)))){
const err654 = {instancePath:instancePath+"/transport/wss/readTimeout",schemaPath:"#/properties/transport/properties/wss/properties/readTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err654];
}
else {
vErrors.push(err654);
}
errors++;
}
if((typeof data404 == "number") && (isFinite(data404))){
if(data404 < 0 || isNaN(data404)){
const err655 = {instancePath:instancePath+"/transport/wss/readTimeout",schemaPath:"#/properties/transport/properties/wss/properties/readTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err655];
}
else {
vErrors.push(err655);
}
errors++;
}
}
}
if(data402.idleTimeout !== undefined){
let data405 = data402.idleTimeout;
if(!(((typeof data405 == "number") && (!(data405 % 1) && !isNaN(data405))) && (isFinite(data405)))){
const err656 = {instancePath:instancePath+"/transport/wss/idleTimeout",schemaPath:"#/properties/transport/properties/wss/properties/idleTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err656];
}
else {
vErrors.push(err656);
}
errors++;
}
if((typeof data405 == "number") && (isFinite(data405))){
if(data405 < 0 || isNaN(data405)){
const err657 = {instancePath:instancePath+"/transport/wss/idleTimeout",schemaPath:"#/properties/transport/properties/wss/properties/idleTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err657];
}
else {
vErrors.push(err657);
}
errors++;
}
}
}
if(data402.pongTimeout !== undefined){
let data406 = data402.pongTimeout;
if(!(((typeof data406 == "number") && (!(data406 % 1) && !isNaN(data406))) && (isFinite(data406)))){
const err658 = {instancePath:instancePath+"/transport/wss/pongTimeout",schemaPath:"#/properties/transport/properties/wss/properties/pongTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err658];
}
else {
vErrors.push(err658);
}
errors++;
}
if((typeof data406 == "number") && (isFinite(data406))){
if(data406 < 0 || isNaN(data406)){
const err659 = {instancePath:instancePath+"/transport/wss/pongTimeout",schemaPath:"#/properties/transport/properties/wss/properties/pongTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err659];
}
else {
vErrors.push(err659);
}
errors++;
}
}
}
if(data402.pingInterval !== undefined){
let data407 = data402.pingInterval;
if(!(((typeof data407 == "number") && (!(data407 % 1) && !isNaN(data407))) && (isFinite(data407)))){
const err660 = {instancePath:instancePath+"/transport/wss/pingInterval",schemaPath:"#/properties/transport/properties/wss/properties/pingInterval/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err660];
}
else {
vErrors.push(err660);
}
errors++;
}
if((typeof data407 == "number") && (isFinite(data407))){
if(data407 < 0 || isNaN(data407)){
const err661 = {instancePath:instancePath+"/transport/wss/pingInterval",schemaPath:"#/properties/transport/properties/wss/properties/pingInterval/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err661];
}
else {
vErrors.push(err661);
}
errors++;
}
}
}
if(data402.handshakeTimeout !== undefined){
let data408 = data402.handshakeTimeout;
if(!(((typeof data408 == "number") && (!(data408 % 1) && !isNaN(data408))) && (isFinite(data408)))){
const err662 = {instancePath:instancePath+"/transport/wss/handshakeTimeout",schemaPath:"#/properties/transport/properties/wss/properties/handshakeTimeout/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err662];
}
else {
vErrors.push(err662);
}
errors++;
}
if((typeof data408 == "number") && (isFinite(data408))){
if(data408 < 0 || isNaN(data408)){
const err663 = {instancePath:instancePath+"/transport/wss/handshakeTimeout",schemaPath:"#/properties/transport/properties/wss/properties/handshakeTimeout/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}};
if(vErrors === null){
vErrors = [err663];
}
else {
vErrors.push(err663);
}
errors++;
}
}
}
if(data402.readBufferSize !== undefined){
let data409 = data402.readBufferSize;
if(!(((typeof data409 == "number") && (!(data409 % 1) && !isNaN(data409))) && (isFinite(data409)))){
const err664 = {instancePath:instancePath+"/transport/wss/readBufferSize",schemaPath:"#/properties/transport/properties/wss/properties/readBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err664];
}
else {
vErrors.push(err664);
}
errors++;
}
if((typeof data409 == "number") && (isFinite(data409))){
if(data409 < 1 || isNaN(data409)){
const err665 = {instancePath:instancePath+"/transport/wss/readBufferSize",schemaPath:"#/properties/transport/properties/wss/properties/readBufferSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err665];
}
else {
vErrors.push(err665);
}
errors++;
}
}
}
if(data402.writeBufferSize !== undefined){
let data410 = data402.writeBufferSize;
if(!(((typeof data410 == "number") && (!(data410 % 1) && !isNaN(data410))) && (isFinite(data410)))){
const err666 = {instancePath:instancePath+"/transport/wss/writeBufferSize",schemaPath:"#/properties/transport/properties/wss/properties/writeBufferSize/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err666];
}
else {
vErrors.push(err666);
}
errors++;
}
if((typeof data410 == "number") && (isFinite(data410))){
if(data410 < 1 || isNaN(data410)){
const err667 = {instancePath:instancePath+"/transport/wss/writeBufferSize",schemaPath:"#/properties/transport/properties/wss/properties/writeBufferSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err667];
}
else {
vErrors.push(err667);
}
errors++;
}
}
}
if(data402.enableCompression !== undefined){
if(typeof data402.enableCompression !== "boolean"){
const err668 = {instancePath:instancePath+"/transport/wss/enableCompression",schemaPath:"#/properties/transport/properties/wss/properties/enableCompression/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err668];
}
else {
vErrors.push(err668);
}
errors++;
}
}
if(data402.identity !== undefined){
let data412 = data402.identity;
if(data412 && typeof data412 == "object" && !Array.isArray(data412)){
for(const key49 in data412){
if(!((((((key49 === "cert") || (key49 === "server_cert")) || (key49 === "key")) || (key49 === "server_key")) || (key49 === "ca")) || (key49 === "alt_server_certs"))){
const err669 = {instancePath:instancePath+"/transport/wss/identity",schemaPath:"#/properties/transport/properties/wss/properties/identity/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key49}};
if(vErrors === null){
vErrors = [err669];
}
else {
vErrors.push(err669);
}
errors++;
}
}
if(data412.cert !== undefined){
if(typeof data412.cert !== "string"){
const err670 = {instancePath:instancePath+"/transport/wss/identity/cert",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err670];
}
else {
vErrors.push(err670);
}
errors++;
}
}
if(data412.server_cert !== undefined){
if(typeof data412.server_cert !== "string"){
const err671 = {instancePath:instancePath+"/transport/wss/identity/server_cert",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/server_cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err671];
}
else {
vErrors.push(err671);
}
errors++;
}
}
if(data412.key !== undefined){
if(typeof data412.key !== "string"){
const err672 = {instancePath:instancePath+"/transport/wss/identity/key",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err672];
}
else {
vErrors.push(err672);
}
errors++;
}
}
if(data412.server_key !== undefined){
if(typeof data412.server_key !== "string"){
const err673 = {instancePath:instancePath+"/transport/wss/identity/server_key",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/server_key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err673];
}
else {
vErrors.push(err673);
}
errors++;
}
}
if(data412.ca !== undefined){
if(typeof data412.ca !== "string"){
const err674 = {instancePath:instancePath+"/transport/wss/identity/ca",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/ca/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err674];
}
else {
vErrors.push(err674);
}
errors++;
}
}
if(data412.alt_server_certs !== undefined){
let data418 = data412.alt_server_certs;
if(Array.isArray(data418)){
const len22 = data418.length;
for(let i22=0; i22<len22; i22++){
let data419 = data418[i22];
if(data419 && typeof data419 == "object" && !Array.isArray(data419)){
if(data419.server_cert === undefined){
const err675 = {instancePath:instancePath+"/transport/wss/identity/alt_server_certs/" + i22,schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/alt_server_certs/items/required",keyword:"required",params:{missingProperty: "server_cert"}};
if(vErrors === null){
vErrors = [err675];
}
else {
vErrors.push(err675);
}
errors++;
}
for(const key50 in data419){
if(!((key50 === "server_cert") || (key50 === "server_key"))){
const err676 = {instancePath:instancePath+"/transport/wss/identity/alt_server_certs/" + i22,schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/alt_server_certs/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key50}};
if(vErrors === null){
vErrors = [err676];
}
else {
vErrors.push(err676);
}
errors++;
}
}
if(data419.server_cert !== undefined){
if(typeof data419.server_cert !== "string"){
const err677 = {instancePath:instancePath+"/transport/wss/identity/alt_server_certs/" + i22+"/server_cert",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/alt_server_certs/items/properties/server_cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err677];
}
else {
vErrors.push(err677);
}
errors++;
}
}
if(data419.server_key !== undefined){
if(typeof data419.server_key !== "string"){
const err678 = {instancePath:instancePath+"/transport/wss/identity/alt_server_certs/" + i22+"/server_key",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/alt_server_certs/items/properties/server_key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err678];
}
else {
vErrors.push(err678);
}
errors++;
}
}
}
else {
const err679 = {instancePath:instancePath+"/transport/wss/identity/alt_server_certs/" + i22,schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/alt_server_certs/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err679];
}
else {
vErrors.push(err679);
}
errors++;
}
}
}
else {
const err680 = {instancePath:instancePath+"/transport/wss/identity/alt_server_certs",schemaPath:"#/properties/transport/properties/wss/properties/identity/properties/alt_server_certs/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err680];
}
else {
vErrors.push(err680);
}
errors++;
}
}
}
else {
const err681 = {instancePath:instancePath+"/transport/wss/identity",schemaPath:"#/properties/transport/properties/wss/properties/identity/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err681];
}
else {
vErrors.push(err681);
}
errors++;
}
}
}
else {
const err682 = {instancePath:instancePath+"/transport/wss",schemaPath:"#/properties/transport/properties/wss/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err682];
}
else {
vErrors.push(err682);
}
errors++;
}
}
if(data394.westworld3 !== undefined){
let data422 = data394.westworld3;
if(data422 && typeof data422 == "object" && !Array.isArray(data422)){
if(data422.profile_version !== undefined){
let data423 = data422.profile_version;
if(!(((typeof data423 == "number") && (!(data423 % 1) && !isNaN(data423))) && (isFinite(data423)))){
const err683 = {instancePath:instancePath+"/transport/westworld3/profile_version",schemaPath:"#/properties/transport/properties/westworld3/properties/profile_version/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err683];
}
else {
vErrors.push(err683);
}
errors++;
}
}
if(data422.tx_portal_min_sz !== undefined){
let data424 = data422.tx_portal_min_sz;
if(!(((typeof data424 == "number") && (!(data424 % 1) && !isNaN(data424))) && (isFinite(data424)))){
const err684 = {instancePath:instancePath+"/transport/westworld3/tx_portal_min_sz",schemaPath:"#/properties/transport/properties/westworld3/properties/tx_portal_min_sz/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err684];
}
else {
vErrors.push(err684);
}
errors++;
}
}
if(data422.tx_portal_max_sz !== undefined){
let data425 = data422.tx_portal_max_sz;
if(!(((typeof data425 == "number") && (!(data425 % 1) && !isNaN(data425))) && (isFinite(data425)))){
const err685 = {instancePath:instancePath+"/transport/westworld3/tx_portal_max_sz",schemaPath:"#/properties/transport/properties/westworld3/properties/tx_portal_max_sz/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err685];
}
else {
vErrors.push(err685);
}
errors++;
}
}
if(data422.instrument !== undefined){
let data426 = data422.instrument;
if(data426 && typeof data426 == "object" && !Array.isArray(data426)){
if(data426.name !== undefined){
if(typeof data426.name !== "string"){
const err686 = {instancePath:instancePath+"/transport/westworld3/instrument/name",schemaPath:"#/properties/transport/properties/westworld3/properties/instrument/properties/name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err686];
}
else {
vErrors.push(err686);
}
errors++;
}
}
if(data426.path !== undefined){
if(typeof data426.path !== "string"){
const err687 = {instancePath:instancePath+"/transport/westworld3/instrument/path",schemaPath:"#/properties/transport/properties/westworld3/properties/instrument/properties/path/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err687];
}
else {
vErrors.push(err687);
}
errors++;
}
}
if(data426.snapshot_ms !== undefined){
let data429 = data426.snapshot_ms;
if(!(((typeof data429 == "number") && (!(data429 % 1) && !isNaN(data429))) && (isFinite(data429)))){
const err688 = {instancePath:instancePath+"/transport/westworld3/instrument/snapshot_ms",schemaPath:"#/properties/transport/properties/westworld3/properties/instrument/properties/snapshot_ms/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err688];
}
else {
vErrors.push(err688);
}
errors++;
}
}
if(data426.enabled !== undefined){
if(typeof data426.enabled !== "boolean"){
const err689 = {instancePath:instancePath+"/transport/westworld3/instrument/enabled",schemaPath:"#/properties/transport/properties/westworld3/properties/instrument/properties/enabled/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err689];
}
else {
vErrors.push(err689);
}
errors++;
}
}
}
else {
const err690 = {instancePath:instancePath+"/transport/westworld3/instrument",schemaPath:"#/properties/transport/properties/westworld3/properties/instrument/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err690];
}
else {
vErrors.push(err690);
}
errors++;
}
}
}
else {
const err691 = {instancePath:instancePath+"/transport/westworld3",schemaPath:"#/properties/transport/properties/westworld3/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err691];
}
else {
vErrors.push(err691);
}
errors++;
}
}
if(data394.dtls !== undefined){
let data431 = data394.dtls;
if(!(data431 && typeof data431 == "object" && !Array.isArray(data431))){
const err692 = {instancePath:instancePath+"/transport/dtls",schemaPath:"#/properties/transport/properties/dtls/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err692];
}
else {
vErrors.push(err692);
}
errors++;
}
}
}
else {
const err693 = {instancePath:instancePath+"/transport",schemaPath:"#/properties/transport/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err693];
}
else {
vErrors.push(err693);
}
errors++;
}
}
if(data.tls !== undefined){
let data432 = data.tls;
if(data432 && typeof data432 == "object" && !Array.isArray(data432)){
for(const key51 in data432){
if(!(key51 === "handshakeTimeout")){
const err694 = {instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key51}};
if(vErrors === null){
vErrors = [err694];
}
else {
vErrors.push(err694);
}
errors++;
}
}
if(data432.handshakeTimeout !== undefined){
let data433 = data432.handshakeTimeout;
if(typeof data433 === "string"){
if(!(formats6(data433))){
const err695 = {instancePath:instancePath+"/tls/handshakeTimeout",schemaPath:"#/properties/tls/properties/handshakeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err695];
}
else {
vErrors.push(err695);
}
errors++;
}
}
else {
const err696 = {instancePath:instancePath+"/tls/handshakeTimeout",schemaPath:"#/properties/tls/properties/handshakeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err696];
}
else {
vErrors.push(err696);
}
errors++;
}
}
}
else {
const err697 = {instancePath:instancePath+"/tls",schemaPath:"#/properties/tls/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err697];
}
else {
vErrors.push(err697);
}
errors++;
}
}
if(data.proxy !== undefined){
let data434 = data.proxy;
if(data434 && typeof data434 == "object" && !Array.isArray(data434)){
if(data434.type === undefined){
const err698 = {instancePath:instancePath+"/proxy",schemaPath:"#/$defs/proxy/required",keyword:"required",params:{missingProperty: "type"}};
if(vErrors === null){
vErrors = [err698];
}
else {
vErrors.push(err698);
}
errors++;
}
for(const key52 in data434){
if(!((((key52 === "type") || (key52 === "address")) || (key52 === "username")) || (key52 === "password"))){
const err699 = {instancePath:instancePath+"/proxy",schemaPath:"#/$defs/proxy/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key52}};
if(vErrors === null){
vErrors = [err699];
}
else {
vErrors.push(err699);
}
errors++;
}
}
if(data434.type !== undefined){
let data435 = data434.type;
if(typeof data435 !== "string"){
const err700 = {instancePath:instancePath+"/proxy/type",schemaPath:"#/$defs/proxy/properties/type/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err700];
}
else {
vErrors.push(err700);
}
errors++;
}
if(!((data435 === "none") || (data435 === "http"))){
const err701 = {instancePath:instancePath+"/proxy/type",schemaPath:"#/$defs/proxy/properties/type/enum",keyword:"enum",params:{allowedValues: schema1.properties.type.enum}};
if(vErrors === null){
vErrors = [err701];
}
else {
vErrors.push(err701);
}
errors++;
}
}
if(data434.address !== undefined){
let data436 = data434.address;
if(typeof data436 === "string"){
if(!(formats44(data436))){
const err702 = {instancePath:instancePath+"/proxy/address",schemaPath:"#/$defs/proxy/properties/address/format",keyword:"format",params:{format: "host-port"}};
if(vErrors === null){
vErrors = [err702];
}
else {
vErrors.push(err702);
}
errors++;
}
}
else {
const err703 = {instancePath:instancePath+"/proxy/address",schemaPath:"#/$defs/proxy/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err703];
}
else {
vErrors.push(err703);
}
errors++;
}
}
if(data434.username !== undefined){
if(typeof data434.username !== "string"){
const err704 = {instancePath:instancePath+"/proxy/username",schemaPath:"#/$defs/proxy/properties/username/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err704];
}
else {
vErrors.push(err704);
}
errors++;
}
}
if(data434.password !== undefined){
if(typeof data434.password !== "string"){
const err705 = {instancePath:instancePath+"/proxy/password",schemaPath:"#/$defs/proxy/properties/password/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err705];
}
else {
vErrors.push(err705);
}
errors++;
}
}
}
else {
const err706 = {instancePath:instancePath+"/proxy",schemaPath:"#/$defs/proxy/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err706];
}
else {
vErrors.push(err706);
}
errors++;
}
}
if(data.plugins !== undefined){
let data439 = data.plugins;
if(Array.isArray(data439)){
const len23 = data439.length;
for(let i23=0; i23<len23; i23++){
if(typeof data439[i23] !== "string"){
const err707 = {instancePath:instancePath+"/plugins/" + i23,schemaPath:"#/properties/plugins/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err707];
}
else {
vErrors.push(err707);
}
errors++;
}
}
}
else {
const err708 = {instancePath:instancePath+"/plugins",schemaPath:"#/properties/plugins/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err708];
}
else {
vErrors.push(err708);
}
errors++;
}
}
if(data.connectEvents !== undefined){
let data441 = data.connectEvents;
if(data441 && typeof data441 == "object" && !Array.isArray(data441)){
for(const key53 in data441){
if(!((((key53 === "enabled") || (key53 === "batchInterval")) || (key53 === "fullSyncInterval")) || (key53 === "maxQueuedEvents"))){
const err709 = {instancePath:instancePath+"/connectEvents",schemaPath:"#/properties/connectEvents/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key53}};
if(vErrors === null){
vErrors = [err709];
}
else {
vErrors.push(err709);
}
errors++;
}
}
if(data441.enabled !== undefined){
if(typeof data441.enabled !== "boolean"){
const err710 = {instancePath:instancePath+"/connectEvents/enabled",schemaPath:"#/properties/connectEvents/properties/enabled/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err710];
}
else {
vErrors.push(err710);
}
errors++;
}
}
if(data441.batchInterval !== undefined){
let data443 = data441.batchInterval;
if(typeof data443 === "string"){
if(!(formats6(data443))){
const err711 = {instancePath:instancePath+"/connectEvents/batchInterval",schemaPath:"#/properties/connectEvents/properties/batchInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err711];
}
else {
vErrors.push(err711);
}
errors++;
}
}
else {
const err712 = {instancePath:instancePath+"/connectEvents/batchInterval",schemaPath:"#/properties/connectEvents/properties/batchInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err712];
}
else {
vErrors.push(err712);
}
errors++;
}
}
if(data441.fullSyncInterval !== undefined){
let data444 = data441.fullSyncInterval;
if(typeof data444 === "string"){
if(!(formats6(data444))){
const err713 = {instancePath:instancePath+"/connectEvents/fullSyncInterval",schemaPath:"#/properties/connectEvents/properties/fullSyncInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err713];
}
else {
vErrors.push(err713);
}
errors++;
}
}
else {
const err714 = {instancePath:instancePath+"/connectEvents/fullSyncInterval",schemaPath:"#/properties/connectEvents/properties/fullSyncInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err714];
}
else {
vErrors.push(err714);
}
errors++;
}
}
if(data441.maxQueuedEvents !== undefined){
let data445 = data441.maxQueuedEvents;
if(!(((typeof data445 == "number") && (!(data445 % 1) && !isNaN(data445))) && (isFinite(data445)))){
const err715 = {instancePath:instancePath+"/connectEvents/maxQueuedEvents",schemaPath:"#/properties/connectEvents/properties/maxQueuedEvents/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err715];
}
else {
vErrors.push(err715);
}
errors++;
}
}
}
else {
const err716 = {instancePath:instancePath+"/connectEvents",schemaPath:"#/properties/connectEvents/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err716];
}
else {
vErrors.push(err716);
}
errors++;
}
}
if(data.interfaceDiscovery !== undefined){
let data446 = data.interfaceDiscovery;
if(data446 && typeof data446 == "object" && !Array.isArray(data446)){
for(const key54 in data446){
if(!(((key54 === "disabled") || (key54 === "checkInterval")) || (key54 === "minReportInterval"))){
const err717 = {instancePath:instancePath+"/interfaceDiscovery",schemaPath:"#/properties/interfaceDiscovery/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key54}};
if(vErrors === null){
vErrors = [err717];
}
else {
vErrors.push(err717);
}
errors++;
}
}
if(data446.disabled !== undefined){
if(typeof data446.disabled !== "boolean"){
const err718 = {instancePath:instancePath+"/interfaceDiscovery/disabled",schemaPath:"#/properties/interfaceDiscovery/properties/disabled/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err718];
}
else {
vErrors.push(err718);
}
errors++;
}
}
if(data446.checkInterval !== undefined){
let data448 = data446.checkInterval;
if(typeof data448 === "string"){
if(!(formats6(data448))){
const err719 = {instancePath:instancePath+"/interfaceDiscovery/checkInterval",schemaPath:"#/properties/interfaceDiscovery/properties/checkInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err719];
}
else {
vErrors.push(err719);
}
errors++;
}
}
else {
const err720 = {instancePath:instancePath+"/interfaceDiscovery/checkInterval",schemaPath:"#/properties/interfaceDiscovery/properties/checkInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err720];
}
else {
vErrors.push(err720);
}
errors++;
}
}
if(data446.minReportInterval !== undefined){
let data449 = data446.minReportInterval;
if(typeof data449 === "string"){
if(!(formats6(data449))){
const err721 = {instancePath:instancePath+"/interfaceDiscovery/minReportInterval",schemaPath:"#/properties/interfaceDiscovery/properties/minReportInterval/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err721];
}
else {
vErrors.push(err721);
}
errors++;
}
}
else {
const err722 = {instancePath:instancePath+"/interfaceDiscovery/minReportInterval",schemaPath:"#/properties/interfaceDiscovery/properties/minReportInterval/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err722];
}
else {
vErrors.push(err722);
}
errors++;
}
}
}
else {
const err723 = {instancePath:instancePath+"/interfaceDiscovery",schemaPath:"#/properties/interfaceDiscovery/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err723];
}
else {
vErrors.push(err723);
}
errors++;
}
}
if(data.managedConfig !== undefined){
let data450 = data.managedConfig;
if(data450 && typeof data450 == "object" && !Array.isArray(data450)){
for(const key55 in data450){
if(!(key55 === "allow")){
const err724 = {instancePath:instancePath+"/managedConfig",schemaPath:"#/properties/managedConfig/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key55}};
if(vErrors === null){
vErrors = [err724];
}
else {
vErrors.push(err724);
}
errors++;
}
}
if(data450.allow !== undefined){
let data451 = data450.allow;
if(Array.isArray(data451)){
const len24 = data451.length;
for(let i24=0; i24<len24; i24++){
if(typeof data451[i24] !== "string"){
const err725 = {instancePath:instancePath+"/managedConfig/allow/" + i24,schemaPath:"#/properties/managedConfig/properties/allow/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err725];
}
else {
vErrors.push(err725);
}
errors++;
}
}
}
else {
const err726 = {instancePath:instancePath+"/managedConfig/allow",schemaPath:"#/properties/managedConfig/properties/allow/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err726];
}
else {
vErrors.push(err726);
}
errors++;
}
}
}
else {
const err727 = {instancePath:instancePath+"/managedConfig",schemaPath:"#/properties/managedConfig/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err727];
}
else {
vErrors.push(err727);
}
errors++;
}
}
if(data.enableDebugOps !== undefined){
if(typeof data.enableDebugOps !== "boolean"){
const err728 = {instancePath:instancePath+"/enableDebugOps",schemaPath:"#/properties/enableDebugOps/type",keyword:"type",params:{type: "boolean"}};
if(vErrors === null){
vErrors = [err728];
}
else {
vErrors.push(err728);
}
errors++;
}
}
if(data.web !== undefined){
let data454 = data.web;
if(Array.isArray(data454)){
const len25 = data454.length;
for(let i25=0; i25<len25; i25++){
let data455 = data454[i25];
if(data455 && typeof data455 == "object" && !Array.isArray(data455)){
if(data455.name === undefined){
const err729 = {instancePath:instancePath+"/web/" + i25,schemaPath:"#/properties/web/items/required",keyword:"required",params:{missingProperty: "name"}};
if(vErrors === null){
vErrors = [err729];
}
else {
vErrors.push(err729);
}
errors++;
}
if(data455.bindPoints === undefined){
const err730 = {instancePath:instancePath+"/web/" + i25,schemaPath:"#/properties/web/items/required",keyword:"required",params:{missingProperty: "bindPoints"}};
if(vErrors === null){
vErrors = [err730];
}
else {
vErrors.push(err730);
}
errors++;
}
if(data455.apis === undefined){
const err731 = {instancePath:instancePath+"/web/" + i25,schemaPath:"#/properties/web/items/required",keyword:"required",params:{missingProperty: "apis"}};
if(vErrors === null){
vErrors = [err731];
}
else {
vErrors.push(err731);
}
errors++;
}
for(const key56 in data455){
if(!(((((key56 === "name") || (key56 === "bindPoints")) || (key56 === "identity")) || (key56 === "options")) || (key56 === "apis"))){
const err732 = {instancePath:instancePath+"/web/" + i25,schemaPath:"#/properties/web/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key56}};
if(vErrors === null){
vErrors = [err732];
}
else {
vErrors.push(err732);
}
errors++;
}
}
if(data455.name !== undefined){
let data456 = data455.name;
if(typeof data456 === "string"){
if(func13(data456) < 1){
const err733 = {instancePath:instancePath+"/web/" + i25+"/name",schemaPath:"#/properties/web/items/properties/name/minLength",keyword:"minLength",params:{limit: 1}};
if(vErrors === null){
vErrors = [err733];
}
else {
vErrors.push(err733);
}
errors++;
}
}
else {
const err734 = {instancePath:instancePath+"/web/" + i25+"/name",schemaPath:"#/properties/web/items/properties/name/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err734];
}
else {
vErrors.push(err734);
}
errors++;
}
}
if(data455.bindPoints !== undefined){
let data457 = data455.bindPoints;
if(Array.isArray(data457)){
if(data457.length < 1){
const err735 = {instancePath:instancePath+"/web/" + i25+"/bindPoints",schemaPath:"#/properties/web/items/properties/bindPoints/minItems",keyword:"minItems",params:{limit: 1}};
if(vErrors === null){
vErrors = [err735];
}
else {
vErrors.push(err735);
}
errors++;
}
const len26 = data457.length;
for(let i26=0; i26<len26; i26++){
let data458 = data457[i26];
if(data458 && typeof data458 == "object" && !Array.isArray(data458)){
if(data458.interface === undefined){
const err736 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26,schemaPath:"#/properties/web/items/properties/bindPoints/items/required",keyword:"required",params:{missingProperty: "interface"}};
if(vErrors === null){
vErrors = [err736];
}
else {
vErrors.push(err736);
}
errors++;
}
if(data458.address === undefined){
const err737 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26,schemaPath:"#/properties/web/items/properties/bindPoints/items/required",keyword:"required",params:{missingProperty: "address"}};
if(vErrors === null){
vErrors = [err737];
}
else {
vErrors.push(err737);
}
errors++;
}
for(const key57 in data458){
if(!((((key57 === "interface") || (key57 === "address")) || (key57 === "newAddress")) || (key57 === "identity"))){
const err738 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26,schemaPath:"#/properties/web/items/properties/bindPoints/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key57}};
if(vErrors === null){
vErrors = [err738];
}
else {
vErrors.push(err738);
}
errors++;
}
}
if(data458.interface !== undefined){
let data459 = data458.interface;
if(typeof data459 === "string"){
if(!(formats190(data459))){
const err739 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/interface",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/interface/format",keyword:"format",params:{format: "host-port-required"}};
if(vErrors === null){
vErrors = [err739];
}
else {
vErrors.push(err739);
}
errors++;
}
}
else {
const err740 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/interface",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/interface/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err740];
}
else {
vErrors.push(err740);
}
errors++;
}
}
if(data458.address !== undefined){
let data460 = data458.address;
if(typeof data460 === "string"){
if(!(formats190(data460))){
const err741 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/address",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/address/format",keyword:"format",params:{format: "host-port-required"}};
if(vErrors === null){
vErrors = [err741];
}
else {
vErrors.push(err741);
}
errors++;
}
}
else {
const err742 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/address",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/address/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err742];
}
else {
vErrors.push(err742);
}
errors++;
}
}
if(data458.newAddress !== undefined){
let data461 = data458.newAddress;
if(typeof data461 === "string"){
if(!(formats190(data461))){
const err743 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/newAddress",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/newAddress/format",keyword:"format",params:{format: "host-port-required"}};
if(vErrors === null){
vErrors = [err743];
}
else {
vErrors.push(err743);
}
errors++;
}
}
else {
const err744 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/newAddress",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/newAddress/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err744];
}
else {
vErrors.push(err744);
}
errors++;
}
}
if(data458.identity !== undefined){
let data462 = data458.identity;
if(!(data462 && typeof data462 == "object" && !Array.isArray(data462))){
const err745 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26+"/identity",schemaPath:"#/properties/web/items/properties/bindPoints/items/properties/identity/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err745];
}
else {
vErrors.push(err745);
}
errors++;
}
}
}
else {
const err746 = {instancePath:instancePath+"/web/" + i25+"/bindPoints/" + i26,schemaPath:"#/properties/web/items/properties/bindPoints/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err746];
}
else {
vErrors.push(err746);
}
errors++;
}
}
}
else {
const err747 = {instancePath:instancePath+"/web/" + i25+"/bindPoints",schemaPath:"#/properties/web/items/properties/bindPoints/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err747];
}
else {
vErrors.push(err747);
}
errors++;
}
}
if(data455.identity !== undefined){
let data463 = data455.identity;
if(data463 && typeof data463 == "object" && !Array.isArray(data463)){
for(const key58 in data463){
if(!((((((key58 === "cert") || (key58 === "server_cert")) || (key58 === "key")) || (key58 === "server_key")) || (key58 === "ca")) || (key58 === "alt_server_certs"))){
const err748 = {instancePath:instancePath+"/web/" + i25+"/identity",schemaPath:"#/properties/web/items/properties/identity/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key58}};
if(vErrors === null){
vErrors = [err748];
}
else {
vErrors.push(err748);
}
errors++;
}
}
if(data463.cert !== undefined){
if(typeof data463.cert !== "string"){
const err749 = {instancePath:instancePath+"/web/" + i25+"/identity/cert",schemaPath:"#/properties/web/items/properties/identity/properties/cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err749];
}
else {
vErrors.push(err749);
}
errors++;
}
}
if(data463.server_cert !== undefined){
if(typeof data463.server_cert !== "string"){
const err750 = {instancePath:instancePath+"/web/" + i25+"/identity/server_cert",schemaPath:"#/properties/web/items/properties/identity/properties/server_cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err750];
}
else {
vErrors.push(err750);
}
errors++;
}
}
if(data463.key !== undefined){
if(typeof data463.key !== "string"){
const err751 = {instancePath:instancePath+"/web/" + i25+"/identity/key",schemaPath:"#/properties/web/items/properties/identity/properties/key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err751];
}
else {
vErrors.push(err751);
}
errors++;
}
}
if(data463.server_key !== undefined){
if(typeof data463.server_key !== "string"){
const err752 = {instancePath:instancePath+"/web/" + i25+"/identity/server_key",schemaPath:"#/properties/web/items/properties/identity/properties/server_key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err752];
}
else {
vErrors.push(err752);
}
errors++;
}
}
if(data463.ca !== undefined){
if(typeof data463.ca !== "string"){
const err753 = {instancePath:instancePath+"/web/" + i25+"/identity/ca",schemaPath:"#/properties/web/items/properties/identity/properties/ca/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err753];
}
else {
vErrors.push(err753);
}
errors++;
}
}
if(data463.alt_server_certs !== undefined){
let data469 = data463.alt_server_certs;
if(Array.isArray(data469)){
const len27 = data469.length;
for(let i27=0; i27<len27; i27++){
let data470 = data469[i27];
if(data470 && typeof data470 == "object" && !Array.isArray(data470)){
if(data470.server_cert === undefined){
const err754 = {instancePath:instancePath+"/web/" + i25+"/identity/alt_server_certs/" + i27,schemaPath:"#/properties/web/items/properties/identity/properties/alt_server_certs/items/required",keyword:"required",params:{missingProperty: "server_cert"}};
if(vErrors === null){
vErrors = [err754];
}
else {
vErrors.push(err754);
}
errors++;
}
for(const key59 in data470){
if(!((key59 === "server_cert") || (key59 === "server_key"))){
const err755 = {instancePath:instancePath+"/web/" + i25+"/identity/alt_server_certs/" + i27,schemaPath:"#/properties/web/items/properties/identity/properties/alt_server_certs/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key59}};
if(vErrors === null){
vErrors = [err755];
}
else {
vErrors.push(err755);
}
errors++;
}
}
if(data470.server_cert !== undefined){
if(typeof data470.server_cert !== "string"){
const err756 = {instancePath:instancePath+"/web/" + i25+"/identity/alt_server_certs/" + i27+"/server_cert",schemaPath:"#/properties/web/items/properties/identity/properties/alt_server_certs/items/properties/server_cert/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err756];
}
else {
vErrors.push(err756);
}
errors++;
}
}
if(data470.server_key !== undefined){
if(typeof data470.server_key !== "string"){
const err757 = {instancePath:instancePath+"/web/" + i25+"/identity/alt_server_certs/" + i27+"/server_key",schemaPath:"#/properties/web/items/properties/identity/properties/alt_server_certs/items/properties/server_key/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err757];
}
else {
vErrors.push(err757);
}
errors++;
}
}
}
else {
const err758 = {instancePath:instancePath+"/web/" + i25+"/identity/alt_server_certs/" + i27,schemaPath:"#/properties/web/items/properties/identity/properties/alt_server_certs/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err758];
}
else {
vErrors.push(err758);
}
errors++;
}
}
}
else {
const err759 = {instancePath:instancePath+"/web/" + i25+"/identity/alt_server_certs",schemaPath:"#/properties/web/items/properties/identity/properties/alt_server_certs/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err759];
}
else {
vErrors.push(err759);
}
errors++;
}
}
}
else {
const err760 = {instancePath:instancePath+"/web/" + i25+"/identity",schemaPath:"#/properties/web/items/properties/identity/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err760];
}
else {
vErrors.push(err760);
}
errors++;
}
}
if(data455.options !== undefined){
let data473 = data455.options;
if(data473 && typeof data473 == "object" && !Array.isArray(data473)){
for(const key60 in data473){
if(!(((((key60 === "readTimeout") || (key60 === "writeTimeout")) || (key60 === "idleTimeout")) || (key60 === "minTLSVersion")) || (key60 === "maxTLSVersion"))){
const err761 = {instancePath:instancePath+"/web/" + i25+"/options",schemaPath:"#/properties/web/items/properties/options/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key60}};
if(vErrors === null){
vErrors = [err761];
}
else {
vErrors.push(err761);
}
errors++;
}
}
if(data473.readTimeout !== undefined){
let data474 = data473.readTimeout;
if(typeof data474 === "string"){
if(!(formats6(data474))){
const err762 = {instancePath:instancePath+"/web/" + i25+"/options/readTimeout",schemaPath:"#/properties/web/items/properties/options/properties/readTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err762];
}
else {
vErrors.push(err762);
}
errors++;
}
}
else {
const err763 = {instancePath:instancePath+"/web/" + i25+"/options/readTimeout",schemaPath:"#/properties/web/items/properties/options/properties/readTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err763];
}
else {
vErrors.push(err763);
}
errors++;
}
}
if(data473.writeTimeout !== undefined){
let data475 = data473.writeTimeout;
if(typeof data475 === "string"){
if(!(formats6(data475))){
const err764 = {instancePath:instancePath+"/web/" + i25+"/options/writeTimeout",schemaPath:"#/properties/web/items/properties/options/properties/writeTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err764];
}
else {
vErrors.push(err764);
}
errors++;
}
}
else {
const err765 = {instancePath:instancePath+"/web/" + i25+"/options/writeTimeout",schemaPath:"#/properties/web/items/properties/options/properties/writeTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err765];
}
else {
vErrors.push(err765);
}
errors++;
}
}
if(data473.idleTimeout !== undefined){
let data476 = data473.idleTimeout;
if(typeof data476 === "string"){
if(!(formats6(data476))){
const err766 = {instancePath:instancePath+"/web/" + i25+"/options/idleTimeout",schemaPath:"#/properties/web/items/properties/options/properties/idleTimeout/format",keyword:"format",params:{format: "duration"}};
if(vErrors === null){
vErrors = [err766];
}
else {
vErrors.push(err766);
}
errors++;
}
}
else {
const err767 = {instancePath:instancePath+"/web/" + i25+"/options/idleTimeout",schemaPath:"#/properties/web/items/properties/options/properties/idleTimeout/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err767];
}
else {
vErrors.push(err767);
}
errors++;
}
}
if(data473.minTLSVersion !== undefined){
let data477 = data473.minTLSVersion;
if(typeof data477 !== "string"){
const err768 = {instancePath:instancePath+"/web/" + i25+"/options/minTLSVersion",schemaPath:"#/properties/web/items/properties/options/properties/minTLSVersion/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err768];
}
else {
vErrors.push(err768);
}
errors++;
}
if(!((((data477 === "TLS1.0") || (data477 === "TLS1.1")) || (data477 === "TLS1.2")) || (data477 === "TLS1.3"))){
const err769 = {instancePath:instancePath+"/web/" + i25+"/options/minTLSVersion",schemaPath:"#/properties/web/items/properties/options/properties/minTLSVersion/enum",keyword:"enum",params:{allowedValues: schema0.properties.web.items.properties.options.properties.minTLSVersion.enum}};
if(vErrors === null){
vErrors = [err769];
}
else {
vErrors.push(err769);
}
errors++;
}
}
if(data473.maxTLSVersion !== undefined){
let data478 = data473.maxTLSVersion;
if(typeof data478 !== "string"){
const err770 = {instancePath:instancePath+"/web/" + i25+"/options/maxTLSVersion",schemaPath:"#/properties/web/items/properties/options/properties/maxTLSVersion/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err770];
}
else {
vErrors.push(err770);
}
errors++;
}
if(!((((data478 === "TLS1.0") || (data478 === "TLS1.1")) || (data478 === "TLS1.2")) || (data478 === "TLS1.3"))){
const err771 = {instancePath:instancePath+"/web/" + i25+"/options/maxTLSVersion",schemaPath:"#/properties/web/items/properties/options/properties/maxTLSVersion/enum",keyword:"enum",params:{allowedValues: schema0.properties.web.items.properties.options.properties.maxTLSVersion.enum}};
if(vErrors === null){
vErrors = [err771];
}
else {
vErrors.push(err771);
}
errors++;
}
}
}
else {
const err772 = {instancePath:instancePath+"/web/" + i25+"/options",schemaPath:"#/properties/web/items/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err772];
}
else {
vErrors.push(err772);
}
errors++;
}
}
if(data455.apis !== undefined){
let data479 = data455.apis;
if(Array.isArray(data479)){
if(data479.length < 1){
const err773 = {instancePath:instancePath+"/web/" + i25+"/apis",schemaPath:"#/properties/web/items/properties/apis/minItems",keyword:"minItems",params:{limit: 1}};
if(vErrors === null){
vErrors = [err773];
}
else {
vErrors.push(err773);
}
errors++;
}
const len28 = data479.length;
for(let i28=0; i28<len28; i28++){
let data480 = data479[i28];
if(data480 && typeof data480 == "object" && !Array.isArray(data480)){
if(data480.binding === undefined){
const err774 = {instancePath:instancePath+"/web/" + i25+"/apis/" + i28,schemaPath:"#/properties/web/items/properties/apis/items/required",keyword:"required",params:{missingProperty: "binding"}};
if(vErrors === null){
vErrors = [err774];
}
else {
vErrors.push(err774);
}
errors++;
}
for(const key61 in data480){
if(!((key61 === "binding") || (key61 === "options"))){
const err775 = {instancePath:instancePath+"/web/" + i25+"/apis/" + i28,schemaPath:"#/properties/web/items/properties/apis/items/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key61}};
if(vErrors === null){
vErrors = [err775];
}
else {
vErrors.push(err775);
}
errors++;
}
}
if(data480.binding !== undefined){
let data481 = data480.binding;
if(typeof data481 !== "string"){
const err776 = {instancePath:instancePath+"/web/" + i25+"/apis/" + i28+"/binding",schemaPath:"#/properties/web/items/properties/apis/items/properties/binding/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err776];
}
else {
vErrors.push(err776);
}
errors++;
}
if(!((data481 === "health-checks") || (data481 === "metrics"))){
const err777 = {instancePath:instancePath+"/web/" + i25+"/apis/" + i28+"/binding",schemaPath:"#/properties/web/items/properties/apis/items/properties/binding/enum",keyword:"enum",params:{allowedValues: schema0.properties.web.items.properties.apis.items.properties.binding.enum}};
if(vErrors === null){
vErrors = [err777];
}
else {
vErrors.push(err777);
}
errors++;
}
}
if(data480.options !== undefined){
let data482 = data480.options;
if(!(data482 && typeof data482 == "object" && !Array.isArray(data482))){
const err778 = {instancePath:instancePath+"/web/" + i25+"/apis/" + i28+"/options",schemaPath:"#/properties/web/items/properties/apis/items/properties/options/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err778];
}
else {
vErrors.push(err778);
}
errors++;
}
}
}
else {
const err779 = {instancePath:instancePath+"/web/" + i25+"/apis/" + i28,schemaPath:"#/properties/web/items/properties/apis/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err779];
}
else {
vErrors.push(err779);
}
errors++;
}
}
}
else {
const err780 = {instancePath:instancePath+"/web/" + i25+"/apis",schemaPath:"#/properties/web/items/properties/apis/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err780];
}
else {
vErrors.push(err780);
}
errors++;
}
}
}
else {
const err781 = {instancePath:instancePath+"/web/" + i25,schemaPath:"#/properties/web/items/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err781];
}
else {
vErrors.push(err781);
}
errors++;
}
}
}
else {
const err782 = {instancePath:instancePath+"/web",schemaPath:"#/properties/web/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err782];
}
else {
vErrors.push(err782);
}
errors++;
}
}
}
else {
const err783 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err783];
}
else {
vErrors.push(err783);
}
errors++;
}
validate0.errors = vErrors;
return errors === 0;
}
validate0.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};

return validate0;
}
