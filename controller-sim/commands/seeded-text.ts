// Says in a sentence what a seed created.

import type { Seeded } from '../lab/seed/seeded.ts';

/** `created 2 identities, 1 service; existed already: 1 identity` */
export function seededText({ created, existing }: Seeded): string {
  const [added, known] = [created, existing].map((counts) =>
    Object.entries(counts)
      .map(([section, count]) => `${count} ${count === 1 ? singular(words(section)) : words(section)}`)
      .join(', '),
  );
  return `created ${added || 'nothing'}${known && `; existed already: ${known}`}`;
}

/** `edgeRouters` → `edge routers` */
function words(section: string): string {
  return section.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function singular(plural: string): string {
  return plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.slice(0, -1);
}
