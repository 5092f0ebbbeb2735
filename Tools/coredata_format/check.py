"""The judge of a single store: whether Core Data would call it its own, by the format specification."""

from . import StoreError
from .check_history import HistoryChecks
from .check_links import LinkChecks
from .check_rows import RowChecks
from .check_schema import SchemaChecks
from .check_system import SystemChecks
from .contents import Contents
from .findings import Findings
from .model import Model
from .store import Store


def check(store: Store, model: Model, grace: float = 0) -> tuple[Findings, Contents | None]:
    """Everything that can be said of a store by itself; its contents where the model's layout is found in it.

    External data that no row names is no finding for so many seconds after it was last changed.
    """
    findings = Findings(grace)
    SystemChecks(store, model, findings).run()
    try:
        contents = Contents(store, model)
    except StoreError as error:
        findings.find("layout", str(error))
        return findings, None
    for checks in (SchemaChecks, RowChecks, LinkChecks, HistoryChecks):
        checks(contents, findings).run()
    return findings, contents
