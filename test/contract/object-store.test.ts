import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalStore } from '../../src/storage/local.js'
import { latestGeneration } from '../../src/storage/local-generation.js'
import { generationPath, placeOf } from '../../src/storage/local-path.js'
import { createMemoryState, createMemoryStore } from '../../src/storage/memory.js'
import { scopedStore } from '../../src/storage/scoped.js'
import { testObjectStore } from './object-store.js'

testObjectStore({
  name: 'memory',
  async open() {
    const state = createMemoryState()
    return [createMemoryStore({ clock: Date, state }), createMemoryStore({ clock: Date, state })]
  },
})

const folders: string[] = []
const removeFolders = async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
}
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'servo-contract-'))
  folders.push(folder)
  return folder
}

async function cutFile(folder: string, name: string, bytes_left: number): Promise<void> {
  const place = placeOf(folder, name)
  await truncate(generationPath(place, latestGeneration(place)), bytes_left)
}

let local_folder = ''
testObjectStore({
  name: 'local',
  async open() {
    const folder = join(await makeFolder(), 'not', 'there', 'yet')
    local_folder = folder
    return [createLocalStore({ folder }), createLocalStore({ folder })]
  },
  damage: (name, bytes_left) => cutFile(local_folder, name, bytes_left),
  close: removeFolders,
})

const scope = 'tenant=acme/workspace=prod/'
let scoped_folder = ''
testObjectStore({
  name: 'local without fsync, within a prefix',
  damage: (name, bytes_left) => cutFile(scoped_folder, scope + name, bytes_left),
  async open() {
    const folder = await makeFolder()
    scoped_folder = folder
    const open = () => scopedStore(createLocalStore({ folder, sync: false }), scope)
    return [open(), open()]
  },
  close: removeFolders,
})
