import { storeContract } from '../contract/index.ts'
import { openIn } from './postgres.fixture.ts'

storeContract('PostgreSQL', openIn())
