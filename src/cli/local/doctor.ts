// `servo doctor`: everything that has to be there, each with what was found and how to mend it. It changes nothing.

import { type Command, Option } from 'commander'
import { type Environment, TEMPORAL_ADDRESS_DEFAULT } from '../../bin/config.js'
import { NAMESPACE_DEFAULT } from '../../core/names.js'
import { TOKEN_VARIABLE, withExample } from '../api-command.js'
import { API_URL_DEFAULT, firstToken } from '../client.js'
import { FAILED } from '../exit-code.js'
import { painted, type Screen, screenOf } from '../screen.js'
import { runningTemporal } from './dev/running-temporal.js'
import { checkApi } from './doctor/api.js'
import { checkDisk } from './doctor/disk.js'
import type { Finding } from './doctor/finding.js'
import { checkNode } from './doctor/node.js'
import { checkPorts } from './doctor/ports.js'
import { checkPrograms } from './doctor/programs.js'
import { checkQueue } from './doctor/queue.js'
import { checkStore } from './doctor/store.js'
import { checkTemporal } from './doctor/temporal.js'
import { type StoreOptions, withStore } from './options.js'
import { counted, note, printJson, printLine } from './print.js'

type Options = StoreOptions & { readonly api: string; readonly temporal?: string; readonly namespace: string; readonly data: string }

export function addDoctorCommand(command: Command, environment: Environment): void {
  withStore(command)
    .description('check this machine, the store, Temporal and the API; exit code 1 if anything fails')
    .addOption(new Option('--api <url>', `where Servo's API is; ${TOKEN_VARIABLE} has its token`).env('SERVO_API').default(API_URL_DEFAULT))
    .addOption(
      new Option('--temporal <address>', `where Temporal is; else that of a \`servo dev\` that runs, else ${TEMPORAL_ADDRESS_DEFAULT}`).env(
        'TEMPORAL_ADDRESS',
      ),
    )
    .addOption(new Option('--namespace <name>', 'namespace in Temporal').env('TEMPORAL_NAMESPACE').default(NAMESPACE_DEFAULT))
    .option('--data <folder>', 'the data folder of `servo dev`', '.servo')
    .action((options: Options) => examine(options, environment))
  withExample(command, 'servo doctor', 'servo doctor --store gs://bucket/servo --api https://servo.example.com')
}

async function examine(options: Options, environment: Environment): Promise<void> {
  const { store, tenant, workspace, gcsEndpoint, api, namespace, data } = options
  const temporal = options.temporal || runningTemporal(data, store) || TEMPORAL_ADDRESS_DEFAULT
  const place = { store, tenant_id: tenant, workspace_id: workspace, ...(gcsEndpoint === undefined ? {} : { gcs_endpoint: gcsEndpoint }) }
  const api_key = environment['TEMPORAL_API_KEY'] || undefined
  const findings = (
    await Promise.all([
      checkNode(),
      checkPrograms(environment),
      checkDisk(data),
      checkPorts(),
      checkStore(place),
      checkTemporal({ address: temporal, namespace, ...(api_key === undefined ? {} : { api_key }) }),
      checkApi(api, firstToken(environment[TOKEN_VARIABLE])),
      checkQueue(environment),
    ])
  ).flat()
  const failed = findings.filter(({ level }) => level === 'fail').length
  if (options.json === true) printJson({ ok: failed === 0, findings })
  else report(findings, screenOf(process.stdout, environment))
  if (failed > 0) process.exitCode = FAILED
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const
const LEVEL_WIDTH = 4

function report(findings: readonly Finding[], screen: Screen): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, level, found, mend } of findings) {
    printLine(`${painted(screen, COLOURS[level], level.padEnd(LEVEL_WIDTH))}  ${check.padEnd(width)}  ${found}`)
    if (mend !== undefined) printLine(`${' '.repeat(LEVEL_WIDTH + width + 4)}${mend}`)
  }
  const count = (wanted: Finding['level']) => findings.filter(({ level }) => level === wanted).length
  note(`${counted(findings.length, 'check')}: ${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed.`)
}
