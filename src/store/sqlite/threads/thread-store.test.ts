import { storeContract } from '../../contract/index.ts'
import { fileStore } from '../contract/open-file.ts'

storeContract('a SQLite file in a thread', fileStore({ inThread: true }))
