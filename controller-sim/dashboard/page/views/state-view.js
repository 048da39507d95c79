// The clock and the snapshots.

import { clockTime, dateText, distanceText, rateText } from '../format.js';
import { html, useEffect, useState } from '../htm.js';
import { Confirm, Field, Form, Problem } from '../parts.js';
import { useAction, usePoll } from '../poll.js';

/** @import { LabRestored, LabSnapshot, ReadClock, ViewProps } from '../types.d.ts' */

/** Milliseconds between reads of the snapshots. */
const INTERVAL = 2_000;
/** @type {readonly (readonly [duration: string, text: string])[]} */
const STEPS = [
  ['1m', '+1 min'],
  ['31m', '+31 min'],
  ['24h', '+1 day'],
];

/** @param {ViewProps} props */
export function StateView(props) {
  return html`<${Clock} ...${props} /><${Snapshots} ...${props} />`;
}

/** @param {ViewProps} props */
function Clock({ client, data: { clock }, refresh }) {
  const [duration, setDuration] = useState('');
  const { isBusy, error, run } = useAction();
  /** @param {string} by */
  const advance = (by) =>
    run(async () => {
      await client.ask('POST', '/clock/advance', { duration: by });
      await refresh();
      setDuration('');
    });
  /** @param {number} rate */
  const setRate = (rate) =>
    run(async () => {
      await client.ask('PATCH', '/clock', { rate });
      await refresh();
    });
  return html`<section class="card" aria-label="Clock">
    <h2>Clock</h2>
    <p class="big mono" aria-live="off"><${Now} clock=${clock} /></p>
    <p class="muted">
      UTC, ${clock.advanced === '0s' ? 'the real time' : `${distanceText(clock)} from the real time`}${clock.rate !== 1 && `, ${rateText(clock)}`}.
      Sessions, tokens, locks and posture follow it; connections keep real time.
    </p>
    <div class="actions">
      ${STEPS.map(
        ([by, text]) =>
          html`<button type="button" key=${by} disabled=${isBusy} onClick=${() => advance(by)}>${text}</button>`,
      )}
      <${Form} class="inline" onSubmit=${() => advance(duration.trim())}>
        <${Field} label="Duration" name="duration" value=${duration} onInput=${setDuration} placeholder="2h30m" required size="8" />
        <button disabled=${isBusy || duration.trim() === ''}>Advance</button>
      <//>
      ${
        clock.rate === 1
          ? html`<button type="button" disabled=${isBusy} onClick=${() => setRate(0)}>Freeze</button>`
          : html`<button type="button" disabled=${isBusy} onClick=${() => setRate(1)}>Run</button>`
      }
    </div>
    <${Problem} error=${error} />
    <p class="hint">
      An advance of 30 minutes or more ends idle sessions, this page's too: it logs in again by itself, unless it was
      reloaded since its login.
    </p>
  </section>`;
}

/** @param {{ clock: ReadClock }} props */
function Now({ clock }) {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((last) => last + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return dateText(clockTime(clock));
}

/** @param {ViewProps} props */
function Snapshots({ client, refresh }) {
  const [snapshots, setSnapshots] = useState(/** @type {readonly LabSnapshot[]} */ ([]));
  const [name, setName] = useState('');
  const [outcome, setOutcome] = useState('');
  const { isBusy, error, run } = useAction();
  const read = async () => setSnapshots(await client.get('/snapshots'));
  usePoll(read, INTERVAL);
  /** @template Answer @param {() => Promise<Answer>} task @param {(answer: Answer) => string} text */
  const act = (task, text) =>
    run(async () => {
      setOutcome('');
      setOutcome(text(await task()));
      await read();
      await refresh();
    });
  const take = () =>
    act(
      () => client.ask('POST', '/snapshots', { name: name.trim() }),
      ({ entities }) => (setName(''), `Took ${name.trim()} with ${entities} entities.`),
    );
  /** @param {string} each */
  const at = (each) => `/snapshots/${encodeURIComponent(each)}`;
  /** @param {LabRestored} counts */
  const restored = ({ created, changed, deleted }) => `${created} created, ${changed} changed, ${deleted} deleted.`;
  return html`<section class="card" aria-label="Snapshots">
    <h2>Snapshots</h2>
    <p class="muted">What administrators configure, in memory. A restore is one change; routers stay connected.</p>
    <table>
      <thead><tr><th>Name</th><th>Taken (UTC)</th><th class="number">Entities</th><th class="number">Index</th><th></th></tr></thead>
      <tbody>
        ${snapshots.map(
          (each) => html`<tr key=${each.name}>
            <td class="mono long">${each.name}</td>
            <td class="mono">${dateText(new Date(each.takenAt))}</td>
            <td class="number">${each.entities}</td>
            <td class="number">${each.index}</td>
            <td class="buttons">
              <${Confirm}
                question="Restore?"
                disabled=${isBusy}
                onConfirm=${() => act(() => client.ask('POST', `${at(each.name)}/restore`), restored)}
                >Restore<//
              >
              ${
                each.name !== 'start' &&
                html`<${Confirm}
                  question="Delete?"
                  disabled=${isBusy}
                  onConfirm=${() =>
                    act(
                      () => client.ask('DELETE', at(each.name)),
                      () => `Deleted ${each.name}.`,
                    )}
                  >Delete<//
                >`
              }
            </td>
          </tr>`,
        )}
      </tbody>
    </table>
    <div class="actions">
      <${Form} class="inline" onSubmit=${take}>
        <${Field} label="New snapshot" name="snapshot" value=${name} onInput=${setName} placeholder="base" required />
        <button disabled=${isBusy || name.trim() === ''}>Take</button>
      <//>
      <span class="space"></span>
      <${Confirm}
        kind="danger"
        question="Return to the start, remove all faults, clear the journal?"
        disabled=${isBusy}
        onConfirm=${() =>
          act(
            () => client.ask('POST', '/reset'),
            (counts) => `Reset: ${restored(counts)}`,
          )}
        >Reset<//
      >
    </div>
    <p role="status" class="note">${outcome}</p>
    <${Problem} error=${error} />
  </section>`;
}
