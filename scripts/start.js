// `npm start`: sets up what is missing, starts all of Servo with the quickstart, runs it once, and says what to look at.
// Ctrl-C ends everything in order; the next `npm start` goes on where this one was.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DIST, ROOT } from './build-state.js'
import { setUp } from './set-up.js'

const MODULE = fileURLToPath(new URL('../examples/quickstart/pipeline.ts', import.meta.url))
const SERVO = fileURLToPath(new URL('../bin/servo.js', import.meta.url))
/** Where a person is, paths are shorter. */
const SHOWN_MODULE = 'examples/quickstart/pipeline.ts'
const DAYS = '2025-01-01..2025-01-05'
/** The same key asks for the same run: a second start shows the first one's run and makes no other. */
const RUN_KEY = 'quickstart'

const OPTIONS = {
  port: { type: 'string' },
  'worker-port': { type: 'string' },
  'temporal-port': { type: 'string' },
  'ui-port': { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
}

const HELP = `npm start                         everything on this machine, with the quickstart
npm start -- --port 7900          where the API listens (7800)
          -- --worker-port 7901   where the worker listens (7801)
          -- --temporal-port 7333 where Temporal listens (7233)
          -- --ui-port 8333       where Temporal's UI listens (8233)
          -- --data .servo-2      where the ledger, logs and secrets are kept (.servo)`

const say = (line) => process.stderr.write(`${line}\n`)

async function start() {
  const flags = readFlags()
  if (flags.help) return console.log(HELP)
  await setUp({ say, only: ['node', 'dependencies', 'temporal', 'build'] })
  const { startDev, DEV_DEFAULTS } = await import(`${DIST}/cli/local/dev.js`)
  const options = {
    ...DEV_DEFAULTS,
    ...withoutUndefined({
      port: flags.port,
      workerPort: flags['worker-port'],
      temporalPort: flags['temporal-port'],
      uiPort: flags['ui-port'],
      data: flags.data,
    }),
  }
  const output = join(options.data, 'quickstart')
  const environment = { ...process.env, SERVO_QUICKSTART_OUTPUT: output }
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort())
  const dev = await startDev({ module: MODULE, options, environment, say })
  try {
    console.log(dev.summary)
    const servo = (...args) => command(args, { ...environment, SERVO_API: dev.api_url }, stopping.signal)
    // A deploy or a run that fails is something to look at, and no reason to take everything down.
    const isDone =
      (await servo('deploy', MODULE, '--worker-url', dev.worker_url, '--slots', options.slots)) &&
      (await servo('run', 'start', '*', '--partitions', DAYS, '--run-key', RUN_KEY, '--wait'))
    if (!stopping.signal.aborted) console.log(isDone ? whatNow(dev, output) : whatFailed(dev))
    await untilAborted(stopping.signal)
  } finally {
    say('Stopping: the worker first, then the API and the loops, Temporal last.')
    await dev.stop()
  }
}

function readFlags() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: false }).values
  } catch (error) {
    throw Object.assign(new Error(`${error.message.split('\n')[0]}\n${HELP}`), { name: 'UsageError' })
  }
}

const withoutUndefined = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

/** As a person would type it; what it says is shown as it comes. */
function command(args, env, signal) {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SERVO, ...args], { env, stdio: 'inherit', cwd: ROOT })
    child.once('error', reject)
    const end = () => child.kill('SIGTERM')
    signal.addEventListener('abort', end, { once: true })
    child.once('exit', (code) => {
      signal.removeEventListener('abort', end)
      resolve(code === 0)
    })
  })
}

const untilAborted = (signal) =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })))

const whatFailed = ({ api_url }) => `
The quickstart was not materialized: what was said is above. Servo goes on, at ${api_url}; the logs are in the data folder.
Mend ${SHOWN_MODULE}, then \`npx servo deploy ${SHOWN_MODULE}\` and \`npx servo run start '*' --partitions ${DAYS} --wait\`.
Ctrl-C stops everything.`

const whatNow = ({ api_url, ui_url }, output) => `
The quickstart is materialized: five days of orders, and a report of them.
  open ${join(output, 'report.csv')}
${ui_url === undefined ? '' : `  open ${ui_url}   the loop that drives it: servo/default/default/workspace\n`}  open ${api_url}/openapi.json

Try next, in another terminal${api_url.endsWith(':7800') ? '' : `, after export SERVO_API=${api_url}`}:
  npx servo asset graph
  npx servo run start shop.daily_revenue+ --partition 2025-01-03 --wait
  npx servo run logs last

Edit ${SHOWN_MODULE}, then \`npx servo deploy ${SHOWN_MODULE}\` and run it again.
Ctrl-C stops everything; npm start goes on from here.`

start().catch((error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
