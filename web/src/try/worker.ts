/** Reads and counts apart from the page, which answers clicks all the while. */
import { answering } from "./answering";
import { rolesOf } from "./door";
import { guess } from "./guess";
import { auditPage } from "./page";
import { HEAD_RECORDS, readHead, readTable } from "./read";
import { canonical } from "./text";

const answer = answering({
  head: async (file) => {
    const table = await readHead(file, file.name);
    return { table, whole: table.records < HEAD_RECORDS };
  },
  read: (file, columns) => readTable(file, file.name, columns),
  guess,
  name: canonical,
  audit: (table, choice) => auditPage(rolesOf(table, choice), choice, table),
}, (told) => postMessage(told));

onmessage = ({ data }) => void answer(data);
