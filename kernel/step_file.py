"""Writes STEP files (AP214, mm) whose bytes depend on the shape alone, and reads them back.

Never writes a clock, a path or a counter into a file.
"""

from pathlib import Path

from OCP.APIHeaderSection import APIHeaderSection_MakeHeader
from OCP.IFSelect import IFSelect_RetDone
from OCP.Interface import Interface_Static
from OCP.StepBasic import StepBasic_Product
from OCP.STEPControl import STEPControl_AsIs, STEPControl_Reader, STEPControl_Writer
from OCP.StepData import StepData_StepModel
from OCP.TCollection import TCollection_HAsciiString
from OCP.TopoDS import TopoDS_Shape

from kernel.verdicts import insist

NO_TIME = "1970-01-01T00:00:00"
"""A time stamp that says nothing: the same part gives the same bytes at any time."""

SETTINGS = {"write.step.unit": "MM", "write.step.schema": "AP214IS"}
"""Said aloud, because resource files named in the environment could change the kernel's defaults."""


def write_step(shape: TopoDS_Shape, path: Path, name: str) -> bool:
    """Whether the kernel says it wrote the shape as a product called `name`."""
    writer = STEPControl_Writer()
    for setting, value in SETTINGS.items():
        Interface_Static.SetCVal_s(setting, value)
    if writer.Transfer(shape, STEPControl_AsIs) != IFSelect_RetDone:
        return False
    model = writer.Model(False)
    _name_products(model, name)
    _write_header(model, name)
    return bool(writer.Write(str(path)) == IFSelect_RetDone)


def read_step(path: Path) -> TopoDS_Shape:
    """All that the file holds, read by a fresh reader into a fresh document. Raises Refusal if that is nothing."""
    reader = STEPControl_Reader()
    read = reader.ReadFile(str(path)) == IFSelect_RetDone and reader.TransferRoots() > 0
    insist(read, "readable-file", "a STEP file with a shape", "none", "step")
    shape = reader.OneShape()
    insist(not shape.IsNull(), "readable-file", "a shape", "none", "step")
    return shape


def _name_products(model: StepData_StepModel, name: str) -> None:
    """By default a product is named after a counter of the process."""
    text = TCollection_HAsciiString(name)
    for index in range(1, model.NbEntities() + 1):
        entity = model.Value(index)
        if isinstance(entity, StepBasic_Product):
            entity.SetId(text)
            entity.SetName(text)


def _write_header(model: StepData_StepModel, name: str) -> None:
    header = APIHeaderSection_MakeHeader(model)
    header.SetName(TCollection_HAsciiString(f"{name}.step"))
    header.SetTimeStamp(TCollection_HAsciiString(NO_TIME))
    header.SetAuthorValue(1, TCollection_HAsciiString("partmill"))
    header.SetOrganizationValue(1, TCollection_HAsciiString("partmill"))
    header.SetOriginatingSystem(TCollection_HAsciiString("partmill"))
