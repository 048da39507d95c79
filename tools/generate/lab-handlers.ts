// Makes the handlers of the functions of the lab that call one of its methods: the compiler compares their input and
// their result with the descriptions in schemas/lab.

import { LAB_FUNCTIONS } from '#schemas/lab/functions.ts';

export function labHandlers(): string {
  const lines = LAB_FUNCTIONS.flatMap(({ id, call }) => {
    const [, method, names = ''] = /^([\w.]+)\((.*)\)$/.exec(call ?? '') ?? [];
    if (method === undefined) return [];
    const input =
      names === '' ? '' : names === 'options' ? ', options' : `, { ${names.replace('options', '...options')} }`;
    return [`  ${id}: answering<'${id}'>((lab${input}) => lab.${method}(${names})),`];
  });
  return `// Generated from schemas/lab by \`npm run generate\`. Do not edit.

import { answering } from '../lab-handler.ts';

export const callHandlers = {
${lines.join('\n')}
};
`;
}
