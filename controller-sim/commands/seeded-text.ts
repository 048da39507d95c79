// Says in a sentence what a seed created.

import type { SectionCounts, SeedDifference, Seeded, SeedStep } from '../lab/seed/seeded.ts';

/** `created 2 identities, 1 service; existed already: 1 identity` */
export function seededText({ created, existing, different, changed, deleted }: Seeded): string {
  const known = countsText(existing);
  return [
    `created ${countsText(created) || 'nothing'}`,
    ...(changed ? [`changed ${countsText(changed) || 'nothing'}`] : []),
    ...(deleted ? [`deleted ${countsText(deleted) || 'nothing'}`] : []),
    ...(known === '' ? [] : [`${changed ? 'unchanged' : 'existed already'}: ${known}`]),
    ...(different
      ? [`kept with other values than the file, use --apply: ${different.map(differenceText).join(', ')}`]
      : []),
  ].join('; ');
}

/** `service policy staff (identityRoles)` */
function differenceText({ kind, name, fields }: SeedDifference): string {
  return `${kind} ${name} (${fields.join(', ')})`;
}

function countsText(counts: SectionCounts): string {
  return Object.entries(counts)
    .map(([section, count]) => `${count} ${count === 1 ? singular(words(section)) : words(section)}`)
    .join(', ');
}

/** `+ service web`, `~ service policy staff: identityRoles`, `- identity anna` */
export function stepText({ action, kind, name, fields }: SeedStep): string {
  const sign = { create: '+', change: '~', delete: '-' }[action];
  return `${sign} ${kind} ${name}${fields ? `: ${fields.join(', ')}` : ''}`;
}

/** `edgeRouters` → `edge routers` */
function words(section: string): string {
  return section.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function singular(plural: string): string {
  return plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.slice(0, -1);
}
