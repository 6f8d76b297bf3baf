/** Reads and counts apart from the page, which answers clicks all the while. */
import { answering } from "./answering";
import { rolesOf } from "./door";
import { withoutGaps } from "./gaps";
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
  audit: (whole, choice) => {
    const { table, left } = choice.leave_out ? withoutGaps(whole, choice) : { table: whole, left: 0 };
    return { page: auditPage(rolesOf(table, choice), choice, table), left };
  },
}, (told) => postMessage(told));

onmessage = ({ data }) => void answer(data);
