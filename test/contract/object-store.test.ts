import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalStore } from '../../src/storage/local.js'
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

testObjectStore({
  name: 'local',
  async open() {
    const folder = join(await makeFolder(), 'not', 'there', 'yet')
    return [createLocalStore({ folder }), createLocalStore({ folder })]
  },
  close: removeFolders,
})

testObjectStore({
  name: 'local without fsync, within a prefix',
  async open() {
    const folder = await makeFolder()
    const scope = 'tenant=acme/workspace=prod/'
    const open = () => scopedStore(createLocalStore({ folder, sync: false }), scope)
    return [open(), open()]
  },
  close: removeFolders,
})
