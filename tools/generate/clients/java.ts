// The lab client for Java: a method for each operation, with a class for its options and records for its answer.

import {
  type Call,
  type Field,
  type FieldType,
  GENERATED,
  optionalOf,
  pascal,
  type RecordType,
  recordsIn,
  requiredOf,
  SAMPLE_DOCUMENT,
  sampleCall,
  sampleOf,
  samplePart,
} from './contract.ts';

const SIMPLE = { string: 'String', integer: 'long', number: 'double', boolean: 'boolean', any: 'Object' } as const;
const BOXED: Readonly<Record<string, string>> = { long: 'Long', double: 'Double', boolean: 'Boolean' };

export function javaLab(calls: readonly Call[]): string {
  const options = calls.filter((call) => optionalOf(call).length > 0 && !call.strict);
  const parts = recordsIn(calls.flatMap(({ body }) => body.map(({ type }) => type)));
  const answers = recordsIn(calls.map(({ answer }) => answer));
  return `// ${GENERATED}

package edgeweave;

import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;

/** The lab API: time, snapshots, faults, the journal, services and identities of a running simulator. */
public final class Lab extends LabHttp {
  Lab(String url, String token, SSLContext tls) {
    super(url, token, tls);
  }
${calls.map(methodsOf).join('')}${options.map((call) => optionsOf(optionsName(call), `Options of ${call.name}.`, optionalOf(call))).join('')}${parts.map(({ name, fields }) => optionsOf(name, 'Part of the options of a call.', fields)).join('')}${answers.map(recordOf).join('')}}
`;
}

function optionsName({ name, strict }: Call): string {
  return `${pascal(strict ?? name)}Options`;
}

/** With options, and without. */
function methodsOf(call: Call): string {
  const { name, operation, path, body, query, hasDocument, answer, holds, strict } = call;
  const { method } = operation;
  const needed = [
    ...path.map((each) => ({ declared: `String ${each}`, name: each })),
    ...requiredOf(call).map((each) => ({ declared: `${typeOf(each.type)} ${each.name}`, name: each.name })),
    ...(hasDocument ? [{ declared: 'Object document', name: 'document' }] : []),
  ];
  const free = optionalOf(call);
  const parameters = [
    ...needed.map(({ declared }) => declared),
    ...(free.length > 0 ? [`${optionsName(call)} options`] : []),
  ];
  const place = operation.path
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => (part.startsWith('{') ? `quoted(${part.slice(1, -1)})` : `"${part}"`))
    .join(' + ');
  const fields = requiredOf(call).map((each) => `"${each.name}", ${each.name}`);
  const hasOptions = query.length === 0 && free.length > 0;
  const sent = `with(${[hasOptions ? 'options.fields()' : 'Map.of()', ...fields].join(', ')})`;
  const content = hasDocument ? 'document' : body.length > 0 ? sent : 'null';
  const about = [
    `${method} /lab/v1${operation.path}`,
    ...(holds ? ['@throws VerificationError that names the nearest entries, if the answer does not hold'] : []),
    ...(strict ? [`Like ${strict}, but also returns an answer that does not hold.`] : []),
  ];
  const called = `call("${method}", ${place}, ${content}, ${query.length > 0 ? 'options.fields()' : 'null'})`;
  const result = holds ? `holding(${called}, "${holds}")` : called;
  const type = answer ? typeOf(answer) : 'void';
  const short = `
  /** Without options. */
  public ${type} ${name}(${needed.map(({ declared }) => declared).join(', ')}) {
    ${answer ? 'return ' : ''}${name}(${[...needed.map((each) => each.name), `new ${optionsName(call)}()`].join(', ')});
  }
`;
  return `
  /**
   * ${about.join('. ')}
   */
  public ${type} ${name}(${parameters.join(', ')}) {
    ${answer ? `return ${readOf(answer, result)}` : result};
  }
${free.length > 0 ? short : ''}`;
}

function readOf(answer: FieldType, value: string): string {
  if (answer.is === 'record') return `Answers.read(${value}, ${answer.record.name}.class)`;
  if (answer.is === 'list') return `Answers.list(${value}, ${boxed(answer.of)}.class)`;
  return `Answers.document(${value})`;
}

/** Documents are maps of any values. */
function typeOf(type: FieldType): string {
  switch (type.is) {
    case 'list':
      return `List<${boxed(type.of)}>`;
    case 'map':
      return `Map<String, ${type.of.is === 'string' || type.of.is === 'integer' ? boxed(type.of) : 'Object'}>`;
    case 'record':
      return type.record.name;
    default:
      return SIMPLE[type.is];
  }
}

function boxed(type: FieldType): string {
  const name = typeOf(type);
  return BOXED[name] ?? name;
}

function optionsOf(name: string, about: string, fields: readonly Field[]): string {
  const setters = fields.map(
    (field) => `${field.note === '' ? '' : `\n    /** ${field.note} */`}
    public ${name} ${field.name}(${typeOf(field.type)} ${field.name}) {
      return set("${field.name}", ${field.name});
    }
`,
  );
  return `
  /** ${about} */
  public static final class ${name} extends Options<${name}> {${setters.join('')}  }
`;
}

function recordOf({ name, fields }: RecordType): string {
  const parts = fields.map(
    ({ name: field, type, isRequired }) => `${isRequired ? typeOf(type) : boxed(type)} ${field}`,
  );
  const noted = fields.filter(({ note }) => note !== '');
  const notes = noted.map(({ name: field, note }) => `   * @param ${field} ${note}`);
  const missing = fields.some(({ isRequired }) => !isRequired) ? ['   * Missing parts are null.'] : [];
  const comment = [...missing, ...(missing.length > 0 && notes.length > 0 ? ['   *'] : []), ...notes];
  return `
${comment.length === 0 ? '' : `  /**\n${comment.join('\n')}\n   */\n`}  public record ${name}(
      ${parts.join(',\n      ')}) {}
`;
}

/** A call with every field of each operation, for the test. */
export function javaCalls(calls: readonly Call[]): string {
  const rows = calls.map((call) => {
    const { name, path, hasDocument, answer } = call;
    const args = [
      ...path.map((each) => JSON.stringify(samplePart(each))),
      ...requiredOf(call).map((field) => literal(field.type, field.name)),
      ...(hasDocument ? [anyLiteral(SAMPLE_DOCUMENT)] : []),
      ...(optionalOf(call).length > 0 ? [setLiteral(optionsName(call), optionalOf(call))] : []),
    ];
    const called = `lab.${name}(${args.join(', ')})`;
    const code = answer ? called : `none(() -> ${called})`;
    return `    check(lab -> ${code}, ${JSON.stringify(JSON.stringify(sampleCall(call)))}, ${answer !== undefined});\n`;
  });
  return `// ${GENERATED}

package edgeweave;

import static edgeweave.EveryFieldTest.check;
import static edgeweave.EveryFieldTest.none;

import java.util.List;
import java.util.Map;

/** A call with every field of each operation. */
final class EveryFieldCalls {
  private EveryFieldCalls() {}

  static void checkAll() throws Exception {
${rows.join('')}  }
}
`;
}

function setLiteral(name: string, fields: readonly Field[]): string {
  const type = `new Lab.${name}()`;
  return type + fields.map((field) => `.${field.name}(${literal(field.type, field.name)})`).join('');
}

function literal(type: FieldType, name: string): string {
  switch (type.is) {
    case 'list':
      return `List.of(${literal(type.of, name)})`;
    case 'map':
      return `Map.of("key", ${literal(type.of, name)})`;
    case 'record':
      return setLiteral(type.record.name, type.record.fields);
    default:
      return anyLiteral(sampleOf(type, name));
  }
}

function anyLiteral(value: unknown): string {
  if (Array.isArray(value)) return `List.of(${value.map(anyLiteral).join(', ')})`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `Map.of(${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}, ${anyLiteral(each)}`)
    .join(', ')})`;
}
