// `npm start`: sets up what is missing, starts all of Servo with the quickstart, runs it once, and says what to look at.
// Ctrl-C ends everything in order; the next `npm start` goes on where this one was.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { DIST, ROOT } from './build-state.js'
import { chooseRun } from './quickstart.js'
import { setUp } from './set-up.js'

const MODULE = fileURLToPath(new URL('../examples/quickstart/pipeline.ts', import.meta.url))
const SERVO = fileURLToPath(new URL('../bin/servo.js', import.meta.url))
/** Where a person is, paths are shorter. */
const SHOWN_MODULE = 'examples/quickstart/pipeline.ts'
const DAYS = '2025-01-01..2025-01-05'
const LOCATION = 'quickstart'

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
  const { startDev, DEV_DEFAULTS } = await import(`${DIST}/cli/local/dev/start.js`)
  const { createStop } = await import(`${DIST}/cli/local/dev/stop.js`)
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
  const stop = createStop(environment, say)
  const dev = await startDev({ module: relative(process.cwd(), MODULE), location_name: LOCATION, options, environment, say, stop })
  if (dev === undefined) return
  console.log(dev.summary)
  const isDone = await materialize({ dev, environment, signal: stop.signal })
  if (!stop.signal.aborted) console.log(isDone ? whatNow(dev, output) : whatFailed(dev))
  await dev.stopped
}

/** Whether all of it is there. A deploy or a run that fails is something to look at, and no reason to take everything down. */
async function materialize({ dev, environment, signal }) {
  const servo = (...args) => command(args, { env: { ...environment, SERVO_API: dev.api_url }, dev, signal })
  if (!dev.is_deployed) return false
  const { createApiClient, firstToken } = await import(`${DIST}/cli/client.js`)
  try {
    const client = createApiClient({ url: dev.api_url, token: firstToken(environment.SERVO_API_TOKEN) })
    const chosen = await chooseRun(client, { location_name: LOCATION, days: DAYS })
    if (signal.aborted) return false
    if (chosen.kind === 'done') {
      console.log(`Run ${chosen.run_id} SUCCEEDED before, with the same definitions: nothing is run again.`)
      return true
    }
    if (chosen.kind === 'open') {
      console.log(`Run ${chosen.run_id} was started before, and goes on.`)
      return await servo('run', 'watch', chosen.run_id)
    }
    const { selection, partitions, run_key, attempt, failed_run_id } = chosen
    if (failed_run_id !== undefined) console.log(`Run ${failed_run_id} did not succeed before: this is attempt ${attempt}.`)
    const of = partitions === undefined ? [] : ['--partitions', partitions]
    return await servo('run', 'start', ...selection, ...of, '--run-key', run_key, '--wait')
  } catch (error) {
    if (!signal.aborted) say(error.message)
    return false
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
function command(args, { env, dev, signal }) {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SERVO, ...args], { env, stdio: 'inherit', cwd: ROOT })
    dev.adopt(child)
    child.once('error', reject)
    const end = () => child.kill('SIGTERM')
    const kill = () => child.kill('SIGKILL')
    signal.addEventListener('abort', end, { once: true })
    process.once('exit', kill)
    child.once('exit', (code) => {
      signal.removeEventListener('abort', end)
      process.removeListener('exit', kill)
      resolve(code === 0)
    })
  })
}

/** Beside another one, a deploy and a run have to be told which one is meant. */
const told = ({ export_line }) => (export_line === undefined ? '' : `, after\n  ${export_line}`)

const whatFailed = (dev) => `
The quickstart was not materialized: what was said is above. Servo goes on, at ${dev.api_url}; the logs are in the data folder.
Mend ${SHOWN_MODULE}, or what it reads, then in another terminal${told(dev)}
  npx servo run start group:shop --partitions ${DAYS} --wait
or stop and start again, which tries it once more.
Ctrl-C stops everything.`

const opened = (output) => (existsSync(join(output, 'report.csv')) ? `  open ${join(output, 'report.csv')}\n` : '')

const whatNow = (dev, output) => `
The quickstart is materialized: five days of orders, and a report of them.
${opened(output)}${dev.loops_url === undefined ? '' : `  open ${dev.loops_url}\n       the loops that drive it, in Temporal\n`}  open ${dev.api_url}/openapi.json

Try next, in another terminal${told(dev)}${dev.export_line === undefined ? ':' : ''}
  npx servo asset graph
  npx servo run start shop.daily_revenue+ --partition 2025-01-03 --wait
  npx servo run logs last
  npx servo schedule ticks quickstart --wait 90s

Edit ${SHOWN_MODULE}: it is loaded and deployed when you save it. Then run it again.
Ctrl-C stops everything; npm start goes on from here.`

start().then(
  // What a set-up or a module keeps open would keep this process.
  () => process.exit(),
  (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  },
)
