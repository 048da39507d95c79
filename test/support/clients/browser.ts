// A headless Chromium on a temporary profile, driven over the DevTools protocol. It records what would disturb a user:
// errors of the console, exceptions, violations of the content security policy, dialogs.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';

/** Milliseconds. */
const MAX_WAIT_MS = 30_000;
const MAX_END_MS = 10_000;
const PAUSE = 50;
const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];

// biome-ignore lint/suspicious/noExplicitAny: answers of the DevTools protocol have every shape
type Answer = any;

/** The path of the installed program; undefined if it is not installed. */
export function findChromium(): string | undefined {
  return PROGRAMS.find((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0);
}

export class Browser {
  /** Errors and warnings of the page so far. */
  readonly complaints: string[] = [];
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  #session: string | undefined;
  #count = 0;

  private constructor(child: ChildProcess, profile: string, socket: WebSocket) {
    this.#child = child;
    this.#profile = profile;
    this.#socket = socket;
    socket.on('message', (data) => this.#onMessage(JSON.parse(String(data))));
  }

  /** Opens an empty page of this size in pixels. */
  static async open(program: string, { width = 1280, height = 800 } = {}): Promise<Browser> {
    const profile = mkdtempSync(join(tmpdir(), 'browser-'));
    const child = spawn(
      program,
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--ignore-certificate-errors',
        '--no-first-run',
        '--no-proxy-server',
        '--disable-background-networking',
        '--disable-component-update',
        '--remote-debugging-port=0',
        `--user-data-dir=${profile}`,
        `--window-size=${width},${height}`,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    process.once('exit', () => child.kill('SIGKILL')); // a test that is ended by its time limit
    const socket = new WebSocket(await debugAddress(child), { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const browser = new Browser(child, profile, socket);
    const { targetInfos } = await browser.send('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }: { type: string }) => type === 'page');
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = sessionId;
    for (const domain of ['Runtime', 'Log', 'Page', 'Network']) await browser.send(`${domain}.enable`);
    await browser.resize(width, height);
    return browser;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    // Its processes write to the profile until it ends in order.
    const late = setTimeout(() => this.#child.kill('SIGKILL'), MAX_END_MS);
    this.#session = undefined;
    this.send('Browser.close').catch(() => undefined);
    await ended;
    clearTimeout(late);
    this.#socket.close();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  send(method: string, params: object = {}): Promise<Answer> {
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params, ...(this.#session && { sessionId: this.#session }) }));
    });
  }

  async goTo(url: string): Promise<void> {
    await this.send('Page.navigate', { url });
  }

  /** The value of an expression in the page. Rejects with the exception that it throws. */
  async evaluate<T = Answer>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression in the page is true. Rejects with the text of the page. */
  async until(expression: string): Promise<void> {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (performance.now() < deadline) {
      if (await this.evaluate(`Boolean(${expression})`).catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    const text = await this.evaluate('document.body.innerText').catch(() => '');
    throw new Error(`the page does not fulfil ${expression}; it shows: ${String(text).slice(0, 2_000)}`);
  }

  /** Waits for this text in the page. */
  async shows(text: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  /** Clicks the first element of a selector, or the first one with this text. */
  async click(selector: string, text?: string): Promise<void> {
    const found = finding(selector, text);
    await this.until(`${found} && !${found}.disabled`);
    await this.evaluate(`${found}.click()`);
  }

  /** Types into the first field of a selector, in place of its content. */
  async type(selector: string, text: string): Promise<void> {
    await this.until(finding(selector));
    await this.evaluate(`${finding(selector)}.focus(), ${finding(selector)}.select?.()`);
    await this.send('Input.insertText', { text });
  }

  /** A key such as `ArrowDown`, with the code of its character for those that have one. */
  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp']) await this.send('Input.dispatchKeyEvent', { type, key, code: key });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  async darken(isDark: boolean): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }];
    await this.send('Emulation.setEmulatedMedia', { features });
  }

  async screenshot(file: string): Promise<void> {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  #onMessage({ id, method, params, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
    if (method === 'Runtime.exceptionThrown')
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type))
      this.complaints.push(JSON.stringify(params.args));
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level))
      this.complaints.push(`${params.entry.text} ${params.entry.url ?? ''}`);
    if (method === 'Page.javascriptDialogOpening') {
      this.complaints.push(`a dialog: ${params.message}`);
      this.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => undefined);
    }
  }
}

function finding(selector: string, text?: string): string {
  const quoted = JSON.stringify(selector);
  if (text === undefined) return `document.querySelector(${quoted})`;
  return `[...document.querySelectorAll(${quoted})].find((each) => each.innerText.trim().startsWith(${JSON.stringify(text)}))`;
}

/** The address that the browser prints when it is ready. */
async function debugAddress(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const chunk of child.stderr ?? []) {
    output += chunk;
    const [, address] = /DevTools listening on (ws:\S+)/.exec(output) ?? [];
    if (address === undefined) continue;
    child.stderr?.resume();
    return address;
  }
  throw new Error(`the browser ended: ${output}`);
}
