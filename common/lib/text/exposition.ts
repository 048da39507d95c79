// The text format of Prometheus (version 0.0.4): collects values by metric, and writes each metric once, with its help
// and its type. It is written here because the summaries of prom-client keep samples of their own.

export interface MetricDefinition {
  /** With the base unit, and `_total` for a counter. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  /** A sentence. */
  readonly help: string;
}

/** Many values, as a summary needs them. */
export interface Distribution {
  readonly count: number;
  /** All measurements: they only grow, as Prometheus expects it. */
  readonly measured: { readonly count: number; readonly sum: number };
  /** The value below which the given ratio (0 to 1) of the values lies. */
  quantile(share: number): number;
}

export type Labels = Readonly<Record<string, string>>;

const QUANTILES = [0.5, 0.95, 0.99];

export class Exposition {
  /** The lines of each metric. */
  readonly #lines = new Map<string, string[]>();

  /** Adds a value of a counter or gauge. */
  value(definition: MetricDefinition, labels: Labels, value: number): void {
    this.#linesOf(definition).push(sample(definition.name, labels, value));
  }

  /** Adds a summary. `divisor` converts its values to the base unit. A summary without values has the quantiles NaN. */
  summary(definition: MetricDefinition, labels: Labels, snapshot: Distribution, divisor = 1): void {
    const { name } = definition;
    const lines = this.#linesOf(definition);
    for (const quantile of QUANTILES) {
      const value = snapshot.count === 0 ? Number.NaN : snapshot.quantile(quantile) / divisor;
      lines.push(sample(name, { ...labels, quantile: String(quantile) }, value));
    }
    lines.push(sample(`${name}_sum`, labels, snapshot.measured.sum / divisor));
    lines.push(sample(`${name}_count`, labels, snapshot.measured.count));
  }

  get text(): string {
    const lines = [...this.#lines.values()].flat();
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  }

  #linesOf({ name, type, help }: MetricDefinition): string[] {
    const known = this.#lines.get(name);
    if (known) return known;
    const lines = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`];
    this.#lines.set(name, lines);
    return lines;
  }
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeText(text).replaceAll('"', '\\"')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}`;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
