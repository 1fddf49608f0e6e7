// Which folder may import which: the table is the configuration, the rules below are made from it.
// A row may be a folder or one file (without its ending); the longest row that fits a file is the one that counts.
// test/tidy.test.ts plants one violation per rule, and asserts that modules are read at all.

const MAY_IMPORT = {
  core: [],
  events: ['core'],
  partitions: ['core'],
  projections: ['core', 'events', 'partitions'],
  controllers: ['core', 'events', 'partitions', 'projections'],
  telemetry: ['core'],
  storage: ['core'],
  // Who signed a token: a worker asks it of deliveries, the API of callbacks. Neither may import the other, and core is pure.
  oidc: ['core'],
  ledger: ['core', 'events', 'storage'],
  tables: ['core', 'projections', 'storage'],
  compactor: ['core', 'events', 'projections', 'storage', 'ledger', 'tables'],
  readers: ['core', 'events', 'partitions', 'projections', 'storage', 'tables'],
  'readers/fresh': ['core', 'events', 'partitions', 'projections', 'storage', 'tables', 'ledger/read'],
  'readers/tail': [
    'core',
    'events',
    'partitions',
    'projections',
    'storage',
    'tables',
    'ledger/read',
    'ledger/segment',
    'ledger/pack',
    'ledger/pack-index',
    'ledger/packed',
  ],
  'readers/outbox': ['core', 'events', 'partitions', 'projections', 'storage', 'tables', 'ledger/lists'],
  turn: ['core', 'events', 'partitions', 'projections', 'controllers', 'storage', 'ledger', 'tables', 'compactor', 'readers'],
  commands: [
    'core',
    'events',
    'partitions',
    'projections',
    'ledger/append',
    'ledger/segment',
    'ledger/lists',
    'readers',
    'storage/write-once',
  ],
  'commands/preview': ['core', 'events', 'partitions', 'projections', 'ledger/append', 'ledger/segment', 'readers', 'controllers'],
  'commands/claims': ['core', 'events', 'partitions', 'projections', 'ledger/append', 'ledger/segment', 'readers', 'storage'],
  'commands/run-key-claim': ['core', 'events', 'partitions', 'projections', 'ledger/append', 'ledger/segment', 'readers', 'storage'],
  'commands/starts': [
    'core',
    'events',
    'partitions',
    'projections',
    'ledger/append',
    'ledger/segment',
    'ledger/start-entry',
    'readers',
    'storage',
  ],
  'commands/logs': ['core', 'events', 'partitions', 'projections', 'ledger/append', 'ledger/segment', 'readers', 'storage'],
  activities: [
    'core',
    'events',
    'partitions',
    'projections',
    'storage',
    'commands',
    'turn',
    'compactor',
    'readers',
    'api/contract',
    'workflows/contract',
  ],
  workflows: ['core/ids', 'core/names', 'core/limits', 'core/page-text', 'core/time', 'activities'],
  sdk: ['core', 'partitions', 'api/contract', 'oidc'],
  'api/contract': ['core', 'events'],
  api: ['core', 'events', 'partitions', 'readers', 'commands', 'workflows/contract', 'oidc'],
  cli: ['core/errors', 'core/instant-text', 'core/secrets', 'core/spelling', 'api/contract'],
  // Counts instants by itself: nobody needs a server to see when a cron fires.
  'cli/schedule/preview': ['core', 'api/contract'],
  // Nor to see which keys a definition has.
  'cli/partition/keys': ['core', 'api/contract'],
  'cli/partition/listing': ['core', 'partitions', 'api/contract'],
  'cli/local': ['core', 'partitions', 'readers', 'commands', 'turn', 'compactor', 'sdk', 'bin', 'api/contract'],
  console: ['api/contract'],
  bin: ['*'],
}

/** These rows may use an import for its types only. */
const AS_TYPES_ONLY = [
  { from: 'workflows', to: 'activities' },
  { from: 'console', to: 'api/contract' },
]

/** Modules that few may import besides their own folder, whatever the table says. */
const RESERVED = {
  'ledger/append': ['commands', 'turn', 'bin'],
  'ledger/read': ['turn', 'compactor', 'readers/fresh', 'readers/tail', 'bin'],
  controllers: ['turn', 'commands/preview'],
  bin: ['cli/local'],
  'storage/write-once': ['ledger', 'compactor', 'commands'],
}

const PURE = ['core', 'events', 'partitions', 'projections', 'controllers']

/** No clock and no wire: what decides when must not depend on what is watched. */
const WITHOUT_TELEMETRY = [...PURE, 'workflows', 'telemetry']

/** npm packages for rows where only these are allowed; the longest row counts here too. */
const NPM_ALLOWED = {
  core: ['luxon', '@scure/base'],
  'core/hash': ['@node-rs/crc32'],
  'core/cron/expression': ['cron-parser'],
  events: ['zod'],
  partitions: ['zod'],
  projections: [],
  controllers: [],
  workflows: ['@temporalio/workflow', '@temporalio/common'],
}

/** Node's own modules, in pure code: digests, and nothing else. */
const NODE_ALLOWED = { 'core/hash': ['crypto'] }

const quote = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const anyOf = (alternatives) => (alternatives.length === 0 ? '(?!)' : `(?:${alternatives.join('|')})`)
/** A folder with all below it, or one file; a file's unit test belongs to it. */
const pathOf = (row) => (row === '*' ? '^src/' : `^src/${quote(row)}(?:/|\\.tsx?$|\\.test\\.tsx?$)`)
const rowsBelow = (table, row) => Object.keys(table).filter((other) => other.startsWith(`${row}/`))
const fromRow = (table, row) => ({ path: pathOf(row), pathNot: rowsBelow(table, row).map(pathOf) })
const packagePath = (name) => `(?:^|/)node_modules/(?:@types/)?${quote(name)}(?:/|$)`
const UNIT_TEST = '\\.test\\.tsx?$'

const tableRules = Object.entries(MAY_IMPORT)
  .filter(([, allowed]) => !allowed.includes('*'))
  .map(([row, allowed]) => ({
    name: `may-import/${row}`,
    severity: 'error',
    comment: `src/${row} may import itself${allowed.length === 0 ? ' and nothing else' : ` and ${allowed.join(', ')}`} of src/.`,
    from: fromRow(MAY_IMPORT, row),
    to: {
      path: '^src/',
      pathNot: [
        `^src/${row.split('/')[0]}/`,
        ...allowed.map(pathOf),
        ...(WITHOUT_TELEMETRY.includes(row.split('/')[0]) ? [] : [pathOf('telemetry')]),
      ],
    },
  }))

const typesOnlyRules = AS_TYPES_ONLY.map(({ from, to }) => ({
  name: `as-types-only/${from}`,
  severity: 'error',
  comment: `src/${from} may import src/${to} with \`import type\` only.`,
  from: { path: pathOf(from) },
  to: { path: pathOf(to), dependencyTypesNot: ['type-only'] },
}))

const reservedRules = Object.entries(RESERVED).map(([target, importers]) => ({
  name: `reserved/${target}`,
  severity: 'error',
  comment: `Only ${importers.join(', ')} may import src/${target}.`,
  from: { path: '^src/', pathNot: [...importers.map(pathOf), `^src/${target.split('/')[0]}/`, UNIT_TEST] },
  to: { path: pathOf(target) },
}))

const npmRules = Object.entries(NPM_ALLOWED).map(([row, allowed]) => ({
  name: `npm/${row}`,
  severity: 'error',
  comment: `Of npm packages, src/${row} may import ${allowed.length === 0 ? 'none' : `${allowed.join(', ')} only`}.`,
  from: { ...fromRow(NPM_ALLOWED, row), pathNot: [...rowsBelow(NPM_ALLOWED, row).map(pathOf), UNIT_TEST] },
  to: { path: 'node_modules/', pathNot: allowed.map(packagePath) },
}))

/** Large packages stand behind these. A process that never needs one does not wait for it, and the API loads Temporal's
 *  client behind its first answer: they are loaded by `import()`. */
const LOADED_ON_DEMAND = [
  'telemetry/open-telemetry',
  'telemetry/shared',
  'telemetry/spans',
  'storage/gcs',
  'bin/cloud-tasks',
  'bin/api-temporal',
  'api/openapi',
  'oidc/key-set',
  'oidc/verifier',
  'oidc/identity',
]

const onDemandRules = [
  {
    name: 'npm/only-telemetry',
    severity: 'error',
    comment: 'OpenTelemetry is imported by src/telemetry alone; everybody else is given the tracer of telemetry/tracing.ts.',
    from: { path: '^src/', pathNot: [pathOf('telemetry'), UNIT_TEST] },
    to: { path: '(?:^|/)node_modules/@opentelemetry/' },
  },
  {
    name: 'loaded-on-demand',
    severity: 'error',
    comment: 'It loads a large package: import it with import(), where it is needed.',
    from: { path: '^src/', pathNot: [pathOf('telemetry'), pathOf('oidc'), UNIT_TEST] },
    to: { path: anyOf(LOADED_ON_DEMAND.map(pathOf)), dynamic: false, dependencyTypesNot: ['type-only'] },
  },
]

const nodeRules = [
  {
    name: 'node/pure',
    severity: 'error',
    comment: 'Pure folders import no Node module; digests come from core/hash.ts.',
    from: { path: anyOf(PURE.map(pathOf)), pathNot: [...Object.keys(NODE_ALLOWED).map(pathOf), UNIT_TEST] },
    to: { dependencyTypes: ['core'] },
  },
  ...Object.entries(NODE_ALLOWED).map(([row, allowed]) => ({
    name: `node/${row}`,
    severity: 'error',
    comment: `Of Node's modules, src/${row} imports ${allowed.join(', ')} only.`,
    from: { path: pathOf(row), pathNot: UNIT_TEST },
    to: { dependencyTypes: ['core'], pathNot: `^(?:node:)?${anyOf(allowed)}$` },
  })),
  {
    name: 'node/workflows',
    severity: 'error',
    comment: "Workflow code imports no Node module: Temporal's bundler refuses it.",
    from: { path: pathOf('workflows') },
    to: { dependencyTypes: ['core'] },
  },
]

const generalRules = [
  {
    name: 'no-cycles',
    severity: 'error',
    comment: 'Two modules that need each other are one, or miss a third. Types count.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'no-orphans',
    severity: 'error',
    comment: 'Nothing imports this file, and it imports nothing: remove it, or use it.',
    from: {
      orphan: true,
      path: '^src/',
      pathNot: [UNIT_TEST, '\\.d\\.ts$', '^src/cli/main\\.ts$', '^src/bin/', '^src/workflows/index\\.ts$'],
    },
    to: {},
  },
  {
    name: 'src-alone',
    severity: 'error',
    comment: 'The product imports nothing of its tests, benchmarks or scripts.',
    from: { path: '^src/', pathNot: UNIT_TEST },
    to: { path: '^(?:test|bench|scripts)/' },
  },
  {
    name: 'no-test-import',
    severity: 'error',
    comment: 'A test file is imported by nobody: what several need is a file of its own.',
    from: {},
    to: { path: UNIT_TEST },
  },
  {
    name: 'no-development-package',
    severity: 'error',
    comment: 'What src/ imports is installed with the product: move the package to dependencies.',
    from: { path: '^src/', pathNot: UNIT_TEST },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'resolvable',
    severity: 'error',
    comment: 'This import leads nowhere: the file or the package is missing.',
    from: {},
    to: { couldNotResolve: true },
  },
]

module.exports = {
  forbidden: [...tableRules, ...typesOnlyRules, ...reservedRules, ...npmRules, ...onDemandRules, ...nodeRules, ...generalRules],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
    combinedDependencies: false,
  },
}

// For test/tidy.test.ts; dependency-cruiser refuses members that it does not know, and sees only enumerable ones.
Object.defineProperty(module.exports, 'MAY_IMPORT', { value: MAY_IMPORT, enumerable: false })
